"""Comparators: a closed list of data, never programs. Two byte strings or trees in, equal or not out.

A comparator is a kind name, or canonical JSON `{"kind": ..., parameters}`. Equal bytes are equal for each of them.
Every comparison takes time linear in the bytes (times a constant of the mask), whatever a submission printed.
Refused at once: an unknown kind, unknown or ill-typed parameters, a mask outside its grammar.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from programsmith.payload.verifier.model import FileEntry

STREAM_DEFAULTS = {"stdout": "bytes", "exit_code": "exact", "files": "tree", "stderr": "emptiness"}
PLAIN_KINDS = {"exit_code": ("exact",), "files": ("tree",), "stderr": ("emptiness", "ignore")}

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_NUMBER_BYTES = 1000
_JSON_DEPTH = 200
_MASK_ITEMS = 16
_MASK_REPEAT = 64
_MASK_ITEM = re.compile(
    r"(?P<atom>\\[dws.\\+?*()\[\]{}|^$/-]|\[(?:\\[dws\]\\^-]|[^\[\]\\^])+\]|[^\\\[\](){}|^$.*+?])"
    r"(?P<count>\+|\?|\{\d{1,2}(?:,\d{1,2})?\})?"
)

Comparator = Callable[[bytes, bytes], bool]


def comparator(text: str) -> Comparator:
    """The comparison (expected, got) that `text` names. Raises ValueError."""
    value = json.loads(text) if text.startswith("{") else {"kind": text}
    kind = value.pop("kind", None)
    make = _KINDS.get(kind)
    if make is None:
        raise ValueError(f"comparator: wanted one of {', '.join(sorted(_KINDS))}, got {kind!r}")
    try:
        inner = make(**value)
    except TypeError as fault:
        raise ValueError(f"comparator {kind}: {fault}") from fault
    return lambda expected, got: expected == got or inner(expected, got)


def choice(compare: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Comparator text per stream, with the defaults filled in. Raises ValueError on an unknown stream or kind."""
    chosen = dict(STREAM_DEFAULTS)
    for stream, text in compare:
        if stream not in chosen:
            raise ValueError(f"compare: wanted one of {', '.join(chosen)}, got {stream!r}")
        chosen[stream] = text
        kinds = PLAIN_KINDS.get(stream)
        if kinds and text not in kinds:
            raise ValueError(f"compare: {stream}: wanted one of {', '.join(kinds)}, got {text!r}")
    comparator(chosen["stdout"])
    return chosen


def same_tree(expected: Iterable[FileEntry], got: Iterable[FileEntry]) -> bool:
    """Whether two work directories hold the same.

    Compared are names, kinds, contents, link targets and the owner's execute bit of files; the directories that a
    path implies count as present, so it does not matter whether a side lists them.
    """
    return _by_path(expected) == _by_path(got)


def _by_path(entries: Iterable[FileEntry]) -> dict[bytes, tuple[str, bytes, bool]]:
    found: dict[bytes, tuple[str, bytes, bool]] = {}
    for e in entries:
        found[e.path] = (e.kind, e.content, e.kind == "file" and bool(e.mode & 0o100))
        above = e.path.rpartition(b"/")[0]
        while above and above not in found:
            found[above] = ("dir", b"", False)
            above = above.rpartition(b"/")[0]
    return found


def _bytes() -> Comparator:
    return lambda _expected, _got: False


def _lines_unordered() -> Comparator:
    return lambda expected, got: sorted(expected.split(b"\n")) == sorted(got.split(b"\n"))


def _tokens() -> Comparator:
    return lambda expected, got: expected.split() == got.split()


def _float(**tolerance: Any) -> Comparator:
    limits = {"abs": 0.0, "rel": 0.0, **tolerance}
    if set(limits) != {"abs", "rel"} or not all(_is_tolerance(v) for v in limits.values()):
        raise ValueError(f"comparator float: wanted abs and rel, each a number in 0..1, got {tolerance!r}")

    def near(a: bytes, b: bytes) -> bool:
        if a == b:
            return True
        if max(len(a), len(b)) > _NUMBER_BYTES or not (_NUMBER.fullmatch(a) and _NUMBER.fullmatch(b)):
            return False
        x, y = float(a), float(b)
        return math.isfinite(x) and math.isfinite(y) and abs(x - y) <= max(limits["abs"], limits["rel"] * abs(x))

    def equal(expected: bytes, got: bytes) -> bool:
        left, right = expected.split(), got.split()
        return len(left) == len(right) and all(map(near, left, right))

    return equal


def _is_tolerance(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _json_canonical() -> Comparator:
    def equal(expected: bytes, got: bytes) -> bool:
        left = _documents(expected)
        return left is not None and left == _documents(got)

    return equal


def _documents(raw: bytes) -> list[Any] | None:
    """The JSON documents that stand one after the other in `raw`, numbers as their text; None where it is not that."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if _depth(text) > _JSON_DEPTH:
        return None
    found, at = [], _skip_blanks(text, 0)
    try:
        while at < len(text):
            document, at = _DECODER.raw_decode(text, at)
            found.append(document)
            at = _skip_blanks(text, at)
    except ValueError:
        return None
    return found


def _skip_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _depth(text: str) -> int:
    """The deepest nesting of brackets; those within strings count too, which can only refuse more."""
    deepest = now = 0
    for mark in _BRACKETS.findall(text):
        now += 1 if mark in "[{" else -1
        deepest = max(deepest, now)
    return deepest


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


_BLANKS = re.compile(r"[ \t\r\n]*")
_BRACKETS = re.compile(r"[\[\]{}]")
_DECODER = json.JSONDecoder(
    parse_float=lambda text: ("number", text),
    parse_int=lambda text: ("number", text),
    parse_constant=_refuse_constant,
    object_pairs_hook=_unique,
)


def _mask(pattern: str = "") -> Comparator:
    compiled = mask_pattern(pattern)
    return lambda expected, got: compiled.split(expected) == compiled.split(got)


def mask_pattern(pattern: str) -> re.Pattern[bytes]:
    r"""The compiled mask: up to 16 literal characters, classes or \d \w \s, each with an optional +, ? or {m,n}.

    Each repeats at most 64 times and never gives back what it took, so no text makes it slow. Raises ValueError.
    """
    parts, at = [], 0
    while at < len(pattern):
        item = _MASK_ITEM.match(pattern, at)
        if item is None:
            raise ValueError(f"comparator mask: cannot read {pattern[at:]!r}; only items with +, ? or {{m,n}}")
        parts.append(item["atom"] + _possessive(item["count"] or ""))
        at = item.end()
    if not 1 <= len(parts) <= _MASK_ITEMS:
        raise ValueError(f"comparator mask: wanted 1 to {_MASK_ITEMS} items, got {len(parts)}")
    try:
        compiled = re.compile("".join(parts).encode("ascii"))
    except (re.error, UnicodeEncodeError) as fault:
        raise ValueError(f"comparator mask: {pattern!r}: {fault}") from fault
    if compiled.match(b""):
        raise ValueError(f"comparator mask: {pattern!r} matches nothing at all")
    return compiled


def _possessive(count: str) -> str:
    if count == "+":
        return f"{{1,{_MASK_REPEAT}}}+"
    if count.startswith("{") and max(int(n) for n in count[1:-1].split(",")) > _MASK_REPEAT:
        raise ValueError(f"comparator mask: wanted a repeat of at most {_MASK_REPEAT}, got {count}")
    return count and count + "+"


_KINDS: dict[str, Callable[..., Comparator]] = {
    "bytes": _bytes,
    "lines_unordered": _lines_unordered,
    "tokens": _tokens,
    "float": _float,
    "json_canonical": _json_canonical,
    "mask": _mask,
}
