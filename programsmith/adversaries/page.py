"""The part of docs/adversaries.md that tells of each known attack who tries it.

In: tests/samples/known_attacks.yaml as a mapping, the page as it stands. Out: the page with that part made anew; the
rest of it is written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEADING = "## Known attacks and who tries them\n"
NEXT = "\n## "
INTRO = """
What others have met or tried, in our words, and who tries it here: an adversary by its id, else a test. This part is
generated from `tests/samples/known_attacks.yaml` (`doit docs`); a test sees that all of them exist.
"""


def with_attacks(page: str, known: Mapping[str, Any]) -> str:
    """The page with the part made anew. Raises ValueError where it has no place for it."""
    at = page.index(HEADING)
    end = page.index(NEXT, at + len(HEADING))
    return page[:at] + HEADING + _part(known) + page[end:]


def _part(known: Mapping[str, Any]) -> str:
    tables = [_table(one["name"], one["attacks"]) for one in known["lists"]]
    own = f"\n### More of our own\n\n{_names(known['own'])}.\n"
    return INTRO + "".join(tables) + own


def _table(name: str, attacks: list[Mapping[str, Any]]) -> str:
    head = f"\n### {name}\n\n| attack | adversaries | tests |\n|---|---|---|\n"
    return head + "".join(f"| {' | '.join(_cells(row))} |\n" for row in attacks)


def _cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    tests = [place.rpartition("/")[2] for place in row.get("tests", ())]
    return row["attack"], _names(row.get("adversaries", ())) or "—", _names(tests) or "—"


def _names(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
