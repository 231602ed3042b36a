"""The hunt for the killers of drawn mutants: several mutants at a time, order kept, no more cases than tell.

In: mutations in drawing order, the cases that execute each line. Out: the judged mutants, and the words for what was
none. It is boxed by CPU time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from queue import SimpleQueue
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.capture import expected_of, unsound
from programsmith.goldens.strength.operators import Mutation
from programsmith.goldens.strength.subject import Subject, Unfit
from programsmith.goldens.variance import Allowance
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Limits
from programsmith.records.golden import Golden, Mutant

HUNTED = ("held_out", "reserve")  # what a public case kills matters to nothing but whether it runs the line
SLICE = 32  # mutants that are drawn before any of them is judged


def differs(result: Result, golden: Golden) -> bool:
    """Whether a run shows anything else than the golden. Raises InfraError where the launcher failed."""
    if result.fault:
        raise InfraError(f"strength: case {golden.id}: {result.fault}")
    shown = expected_of(golden.case, result)
    return unsound(result) is not None or Allowance(dict(golden.compare)).differences(golden.expected, shown) is None


@dataclass(kw_only=True)
class Hunt:
    """What all mutants share. `sides` and `turns` map a case to its side and to its place among those of its side.

    `said` maps it to what the unmutated build writes to stderr. `most` bounds one launch, `rule` is the section
    `mutants` of rules/goldens.yaml.
    """

    subject: Subject
    most: Limits
    sides: Mapping[str, str]
    turns: Mapping[str, int]
    said: Mapping[str, bytes]
    rule: Mapping[str, Any]
    workers: int
    skipped: Counter[str] = field(default_factory=Counter)

    def limits(self, golden: Golden) -> Limits:
        """What a mutant may use on a case: a few times the oracle's own CPU time; wall time for a busy host."""
        cpu = max(self.rule["cpu_floor_seconds"], self.rule["cpu_factor"] * golden.cpu_seconds)
        return replace(self.most, cpu_seconds=cpu, wall_seconds=5 * cpu + 5)


def turns_of(
    usable: Sequence[Golden], sides: Mapping[str, str], traces: Mapping[str, frozenset[str]]
) -> dict[str, int]:
    """Each case's place among those of its side: next is who executes most of what none before it has executed.

    When nothing is left of that, the rest begin anew ("additional coverage", Rothermel et al. 2001).
    """
    bit = {line: 1 << at for at, line in enumerate(sorted(set().union(*traces.values())))}
    masks = {g.id: sum(bit[line] for line in traces[g.id]) for g in usable}
    turns: dict[str, int] = {}
    for side in sorted(set(sides.values())):
        left = sorted(i for i in masks if sides[i] == side)
        unseen = 0
        while left:
            best = max(left, key=lambda i: ((masks[i] & unseen).bit_count(), i))
            if not masks[best] & unseen:
                unseen = -1
                best = max(left, key=lambda i: (masks[i].bit_count(), i))
            unseen &= ~masks[best]
            turns[best] = len(turns)
            left.remove(best)
    return turns


def hunt_all(hunt: Hunt, drawn: Sequence[Mutation], covering: Mapping[str, list[Golden]]) -> list[Mutant]:
    """Try mutations in order until enough were judged or the box is spent; several at a time, order kept."""
    slots: SimpleQueue[int] = SimpleQueue()
    for slot in range(hunt.workers):
        slots.put(slot)
    end = hunt.subject.spent() + hunt.rule["cpu_seconds"]

    def attempt(mutation: Mutation) -> Mutant | str:
        if hunt.subject.spent() >= end:
            return "out_of_time"
        slot = slots.get()
        try:
            return _kill(hunt, slot, mutation, covering[f"{mutation.path}:{mutation.line}"])
        finally:
            slots.put(slot)

    judged: list[Mutant] = []
    wanted, rest = hunt.rule["count"], list(drawn)
    with ThreadPoolExecutor(hunt.workers) as pool:
        while rest and len(judged) < wanted:
            size = min(SLICE, wanted - len(judged))
            # Neighbours in one file are built one after the other, so each build compiles one file.
            part, rest = sorted(rest[:size]), rest[size:]
            found = list(pool.map(attempt, part))
            judged.extend(one for one in found if isinstance(one, Mutant))
            hunt.skipped.update(one for one in found if isinstance(one, str))
    return judged


def _kill(hunt: Hunt, slot: int, mutation: Mutation, cases: Sequence[Golden]) -> Mutant | str:
    """The mutant with its killers, or the word for why it is none."""
    tree = hunt.subject.mutate(slot, mutation)
    if isinstance(tree, Unfit):
        return tree.value
    quest = _Quest(hunt, cases)
    for golden, result in hunt.subject.answers(tree, quest.wanted(), hunt.limits):
        quest.saw(golden, result)
    return Mutant(
        id=name_of(mutation),
        path=mutation.path,
        line=mutation.line,
        operator=mutation.operator,
        diff=mutation.diff(hunt.subject.sources[mutation.path]),
        killers=tuple(quest.killers),
        uncompared=quest.uncompared,
    )


def name_of(mutation: Mutation) -> str:
    """The id of the mutant that a mutation makes."""
    return f"{mutation.path}:{mutation.line}:{mutation.start}:{mutation.operator}:{mutation.text.hex()[:16]}"


class _Quest:
    """The search for the killers of one mutant. The sides take turns."""

    def __init__(self, hunt: Hunt, cases: Sequence[Golden]) -> None:
        self._hunt = hunt
        self.killers: list[str] = []
        self.uncompared = False
        self._found: Counter[str] = Counter()
        self._tried: Counter[str] = Counter()
        ordered = sorted(cases, key=lambda g: hunt.turns[g.id])
        sides = [[g for g in ordered if hunt.sides[g.id] == side] for side in HUNTED]
        self._order = [golden for turn in zip_longest(*sides) for golden in turn if golden]

    def wanted(self) -> Iterator[Golden]:
        """Cases that are still of use, drawn when the ones before them were seen."""
        rule = self._hunt.rule
        for golden in self._order:
            side = self._hunt.sides[golden.id]
            blind = self._tried[side] >= rule["tries"] * (1 + self._found[side])
            if self._found[side] < rule["killers"] and not blind:
                self._tried[side] += 1
                yield golden

    def saw(self, golden: Golden, result: Result) -> None:
        """Count a kill. One that overran is enough for its side, since each costs its whole limit."""
        side, most = self._hunt.sides[golden.id], self._hunt.rule["killers"]
        killed = differs(result, golden)
        self.uncompared |= not killed and result.stderr != self._hunt.said[golden.id]
        if killed and self._found[side] < most:
            self.killers.append(golden.id)
            self._found[side] = most if result.limits_hit else self._found[side] + 1
