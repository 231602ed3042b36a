"""Measure a pool: which lines each case executes, which mutants each case kills. Deterministic for a seed.

Mutants are drawn from the lines that the whole pool executes, one per line before a second on any; a mutant is killed
by a case whose result differs in anything that the verifier compares. Cases that the build for mutants answers
otherwise than the oracle are not used. Boxed: what was not reached is counted, never guessed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.hunt import Hunt, differs, hunt_all, turns_of
from programsmith.goldens.strength.operators import Mutation, mutations
from programsmith.goldens.strength.subject import Bench, Subject
from programsmith.payload.verifier.model import Limits
from programsmith.records.golden import Golden, Kills, Split

CHUNK = 16  # cases that one thread takes at a time


def measure(
    subject: Subject, bench: Bench, goldens: Sequence[Golden], split: Split, rule: Mapping[str, Any], workers: int
) -> Kills:
    """Trace every case, draw mutants, find the first killers of each.

    `rule` is the section `mutants` of rules/goldens.yaml. A side is asked `tries` cases for each
    killer; a mutant that it then has not killed counts as alive, which can only lower the score.
    Raises InfraError where the launcher fails.
    """
    sides = {i: side for side in ("held_out", "public", "reserve") for i in getattr(split, side)}
    traces, usable = _baseline(subject, bench.limits, goldens, workers)
    if goldens and not usable:
        raise InfraError("strength: the build for mutants answers no case as the oracle did")
    turns = turns_of(usable, sides, traces)
    hunt = Hunt(subject=subject, most=bench.limits, sides=sides, turns=turns, rule=rule, workers=workers)
    hunt.skipped["build_differs"] = len(goldens) - len(usable)
    covering: dict[str, list[Golden]] = {}
    for golden in usable:
        for line in traces[golden.id]:
            covering.setdefault(line, []).append(golden)
    mutants = hunt_all(hunt, draw(subject.sources, covering, rule, bench.facts.language), covering)
    table = sorted(set().union(*traces.values())) if traces else []
    index = {line: i for i, line in enumerate(table)}
    return Kills(
        mutants=tuple(mutants),
        line_table=tuple(table),
        lines={i: tuple(sorted(index[line] for line in lines)) for i, lines in traces.items()},
        scope_lines=subject.scope_lines(),
        skipped=dict(sorted(hunt.skipped.items())),
    )


def _baseline(
    subject: Subject, limits: Limits, goldens: Sequence[Golden], workers: int
) -> tuple[dict[str, frozenset[str]], list[Golden]]:
    """The lines of every case, and the cases that the unmutated build answers as the oracle did."""
    chunks = [goldens[i : i + CHUNK] for i in range(0, len(goldens), CHUNK)]

    def same(chunk: Sequence[Golden]) -> list[Golden]:
        told = subject.answers(subject.tree, iter(chunk), lambda _: limits)
        return [golden for golden, result in told if not differs(result, golden)]

    with ThreadPoolExecutor(workers) as pool:
        traced = [lines for part in pool.map(subject.trace, chunks) for lines in part]
        usable = [golden for part in pool.map(same, chunks) for golden in part]
    return {golden.id: lines for golden, lines in zip(goldens, traced, strict=True)}, usable


def draw(sources: Mapping[str, bytes], lines: Iterable[str], rule: Mapping[str, Any], language: str) -> list[Mutation]:
    """All mutations on `lines` in drawing order: a seeded shuffle, one per line before a second on any."""
    executed = set(lines)
    arid = re.compile("|".join(rule["arid"]).encode())
    found: dict[str, list[Mutation]] = {}
    for path, text in sorted(sources.items()):
        for mutation in mutations(path, text, language, arid):
            found.setdefault(f"{path}:{mutation.line}", []).append(mutation)
    chance = random.Random(rule["seed"])  # noqa: S311 - reproducible sampling, not a secret
    drawn: list[tuple[int, float, Mutation]] = []
    for line in sorted(executed & set(found)):
        ordered = found[line]
        chance.shuffle(ordered)
        drawn.extend((turn, chance.random(), mutation) for turn, mutation in enumerate(ordered))
    return [mutation for _, _, mutation in sorted(drawn)]
