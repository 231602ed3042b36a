"""Evidence as lines for a person, cut to a screen.

In: the JSON of a record's evidence. Out: lines of at most WIDTH characters, not more than asked for; what is left out
is counted. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

WIDTH = 110
DEEPEST = 4
CUT = "…"
WORDS = {None: "none", True: "yes", False: "no"}


def lines(evidence: Mapping[str, Any], most: int) -> list[str]:
    """At most `most` lines, short fields first; long ones share what those leave."""
    fields = sorted(evidence.items(), key=lambda item: _weight(item[1]))
    texts = [list(_field(name, value, 0)) for name, value in fields]
    rooms = _rooms([len(text) for text in texts], most)
    return [_cut(line) for text, room in zip(texts, rooms, strict=True) for line in _fitted(text, room)]


def _rooms(lengths: Sequence[int], most: int) -> list[int]:
    """How many lines each of these texts gets, so that they have at most `most` together."""
    rooms, left = [0] * len(lengths), most
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for n, i in enumerate(order):
        rooms[i] = min(lengths[i], left // (len(order) - n))
        left -= rooms[i]
    return rooms


def _fitted(text: Sequence[str], room: int) -> list[str]:
    """The text in its room; the last line counts what is left out."""
    if len(text) <= room or room < 2:  # noqa: PLR2004 - one line has no room for a count
        return list(text[:room])
    return [*text[: room - 1], f"  {CUT} {len(text) - room + 1} more lines"]


def _weight(value: Any) -> int:
    """Short values first."""
    return 0 if _plain(value) else 1


def _field(name: str, value: Any, depth: int) -> Iterator[str]:
    pad = "  " * depth
    if _plain(value) or depth >= DEEPEST:
        yield f"{pad}{name}: {brief(value)}"
        return
    yield f"{pad}{name}:" + (f" {len(value)} entries" if not isinstance(value, Mapping) else "")
    rows = value.items() if isinstance(value, Mapping) else (("-", row) for row in value)
    for key, inner in rows:
        if key == "-" and isinstance(inner, Mapping):
            yield f"{pad}  - {', '.join(f'{k} {brief(v)}' for k, v in inner.items() if v not in (None, '', [], {}))}"
        else:
            yield from _field(str(key), inner, depth + 1)


def _plain(value: Any) -> bool:
    """Whether the value fits behind its name."""
    if isinstance(value, Mapping):
        return not value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return not any(isinstance(inner, Mapping | list | tuple) for inner in value)
    return True


def brief(value: Any) -> str:
    """A value on one line."""
    if value is None or isinstance(value, bool):
        return WORDS[value]
    match value:
        case float():
            return f"{value:g}"
        case str():
            return " ".join(value.split())
        case Mapping():
            return "{" + ", ".join(f"{k}: {brief(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return ", ".join(map(brief, value)) or "none"
        case _:
            return str(value)


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + CUT
