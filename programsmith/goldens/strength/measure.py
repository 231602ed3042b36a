"""Measure a pool: which lines each case executes, which mutants each case kills. Deterministic for a seed.

Mutants are drawn from the lines that the whole pool executes, one per line before a second on any; a mutant is killed
by a case whose result differs in anything that the verifier compares. Cases that the build for mutants answers
otherwise than the oracle are not used. Boxed: what was not reached is counted, never guessed. Mutants to practise on
are drawn apart: a score on mutants that cases were made for would be no measure of other wrong programs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.hunt import Hunt, differs, hunt_all, name_of, turns_of
from programsmith.goldens.strength.operators import Mutation, mutations
from programsmith.goldens.strength.subject import Bench, Subject
from programsmith.payload.verifier.model import Limits
from programsmith.records.golden import Golden, Kills, Split

CHUNK = 16  # cases that one thread takes at a time
SPARED = 2  # times as many drawn mutations as are judged stay out of practice: some do not build, some change nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """`rule` is the section `mutants` of rules/goldens.yaml. `before` are lines of an earlier measurement.

    They are drawn as they were then, so that a case more leaves their sample as it was; the others join it by chance.
    `practice` asks for mutants that no measurement needs, `practised` names those that had been judged so: they are
    drawn no more, whatever came of them.
    """

    rule: Mapping[str, Any]
    workers: int
    before: frozenset[str] = frozenset()
    practice: bool = False
    practised: frozenset[str] = frozenset()

    def chosen(self, drawn: Sequence[Mutation]) -> list[Mutation]:
        """Those of all mutations, in drawing order, that may be judged."""
        if self.practice:
            return list(drawn[SPARED * self.rule["count"] :])
        return [mutation for mutation in drawn if name_of(mutation) not in self.practised]


def traced(subject: Subject, goldens: Sequence[Golden], workers: int) -> dict[str, frozenset[str]]:
    """The lines of every case by its id. Raises InfraError where the launcher fails."""
    with ThreadPoolExecutor(workers) as pool:
        found = [lines for part in pool.map(subject.trace, _chunks(goldens)) for lines in part]
    return {golden.id: lines for golden, lines in zip(goldens, found, strict=True)}


def measure(
    subject: Subject, bench: Bench, seen: Sequence[tuple[Golden, frozenset[str]]], split: Split, way: Way
) -> Kills:
    """Draw mutants from the lines that the cases execute, find the first killers of each.

    `seen` is each case with its lines. A side is asked `tries` cases for each killer; a mutant that it then has not
    killed counts as alive, which can only lower the score. Raises InfraError where the launcher fails.
    """
    sides = {i: side for side in ("held_out", "public", "reserve") for i in getattr(split, side)}
    goldens, own = [golden for golden, _ in seen], {golden.id: lines for golden, lines in seen}
    said = _baseline(subject, bench.limits, goldens, way.workers)
    usable = [golden for golden in goldens if golden.id in said]
    if goldens and not usable:
        raise InfraError("strength: the build for mutants answers no case as the oracle did")
    turns = turns_of(usable, sides, own)
    hunt = Hunt(
        subject=subject, most=bench.limits, sides=sides, turns=turns, said=said, rule=way.rule, workers=way.workers
    )
    hunt.skipped["build_differs"] = len(goldens) - len(usable)
    covering: dict[str, list[Golden]] = {}
    for golden in usable:
        for line in own[golden.id]:
            covering.setdefault(line, []).append(golden)
    drawn = way.chosen(draw(subject.sources, covering, way, bench.facts.language))
    mutants = hunt_all(hunt, drawn, covering)
    table = sorted(frozenset[str]().union(*own.values()))
    index = {line: i for i, line in enumerate(table)}
    return Kills(
        mutants=tuple(mutants),
        line_table=tuple(table),
        lines={i: tuple(sorted(index[line] for line in lines)) for i, lines in own.items()},
        scope_lines=subject.scope_lines(),
        skipped=dict(sorted(hunt.skipped.items())),
    )


def _baseline(subject: Subject, limits: Limits, goldens: Sequence[Golden], workers: int) -> dict[str, bytes]:
    """What the unmutated build writes to stderr under each case that it answers as the oracle did, by the case's id."""

    def same(chunk: Sequence[Golden]) -> dict[str, bytes]:
        told = subject.answers(subject.tree, iter(chunk), lambda _: limits)
        return {golden.id: result.stderr for golden, result in told if not differs(result, golden)}

    with ThreadPoolExecutor(workers) as pool:
        return {i: text for part in pool.map(same, _chunks(goldens)) for i, text in part.items()}


def _chunks(goldens: Sequence[Golden]) -> list[Sequence[Golden]]:
    return [goldens[i : i + CHUNK] for i in range(0, len(goldens), CHUNK)]


def draw(sources: Mapping[str, bytes], lines: Iterable[str], way: Way, language: str) -> list[Mutation]:
    """All mutations on `lines` in drawing order: a seeded shuffle, one per line before a second on any."""
    executed = set(lines)
    arid = re.compile("|".join(way.rule["arid"]).encode())
    found: dict[str, list[Mutation]] = {}
    for path, text in sorted(sources.items()):
        for mutation in mutations(path, text, language, arid):
            found.setdefault(f"{path}:{mutation.line}", []).append(mutation)
    chance = random.Random(way.rule["seed"])  # noqa: S311 - reproducible sampling, not a secret
    drawn: list[tuple[int, float, Mutation]] = []
    for line in sorted(executed & set(found), key=lambda line: (line not in way.before, line)):
        ordered = found[line]
        chance.shuffle(ordered)
        drawn.extend((turn, chance.random(), mutation) for turn, mutation in enumerate(ordered))
    return [mutation for _, _, mutation in sorted(drawn)]
