"""Which held-out cases an agent could not know the answer of: set arithmetic over what each case asks and shows.

In: the two sides, what each case asks and shows, the kills. Out: ids with what they lack. Launches nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from programsmith.records.golden import Discovery, Kills


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacks:
    """`unshown`: held-out case to the names and constants that neither documentation nor public cases show.

    `unseen`: held-out case to the mutants that it kills, no public case kills, on lines that no public case executes.
    """

    unshown: Mapping[str, tuple[bytes, ...]]
    unseen: Mapping[str, tuple[str, ...]]


def lacks(
    public: Collection[str], held_out: Collection[str], discovery: Mapping[str, Discovery], kills: Kills
) -> Lacks:
    """What every held-out case lacks, those that lack nothing left out."""
    shown = {text for i in public for text in discovery[i].shows}
    unshown = {i: tuple(t for t in discovery[i].needs if t not in shown) for i in sorted(held_out)}
    return Lacks(unshown={i: texts for i, texts in unshown.items() if texts}, unseen=_unseen(public, held_out, kills))


def _unseen(public: Collection[str], held_out: Collection[str], kills: Kills) -> dict[str, tuple[str, ...]]:
    seen, hidden = set(public), set(held_out)
    executed = {kills.line_table[at] for i in seen for at in kills.lines.get(i, ())}
    found: dict[str, list[str]] = {}
    for mutant in kills.mutants:
        killers = set(mutant.killers)
        if not killers & seen and f"{mutant.path}:{mutant.line}" not in executed:
            for case in sorted(killers & hidden):
                found.setdefault(case, []).append(mutant.id)
    return {case: tuple(mutants) for case, mutants in sorted(found.items())}
