"""Measure a pool: which lines each case executes, which mutants each case kills. Deterministic for a seed.

Mutants are drawn from the lines that the whole pool executes, one per line before a second on any; a mutant is killed
by a case whose result differs in anything that the verifier compares. Cases that the debug build answers otherwise
than the oracle are not used. Time-boxed: what was not reached is counted, never guessed.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.operators import Mutation, mutations
from programsmith.goldens.strength.subject import Bench, Subject
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Expected, FileEntry, Limits
from programsmith.records.golden import Golden, Kills, Mutant, Split

SLICE = 32  # mutants that are drawn before any of them is judged
CHUNK = 8  # cases that one thread takes at a time
OVERRUN = "overrun"


def differs(result: Result, golden: Golden) -> bool:
    """Whether a run shows anything else than the golden. Raises InfraError where the launcher failed."""
    if result.fault:
        raise InfraError(f"strength: case {golden.id}: {result.fault}")
    if not result.started or result.limits_hit:
        return True
    return _seen(result, golden) != replace(golden.expected, files=_effect(golden, golden.expected.files))


def _seen(result: Result, golden: Golden) -> Expected:
    return Expected(
        exit_code=result.exit_code,
        signal=result.signal,
        stdout=result.stdout,
        stderr_empty=not result.stderr,
        files=_effect(golden, result.files),
    )


def _effect(golden: Golden, files: tuple[FileEntry, ...] | None) -> tuple[FileEntry, ...]:
    """The work directory afterwards; None stands for the directory as the case left it."""
    return tuple(sorted(golden.case.files if files is None else files))


@dataclass(kw_only=True)
class _Run:
    """The state of one measurement."""

    subject: Subject
    bench: Bench
    goldens: Sequence[Golden]
    sides: Mapping[str, str]
    rule: Mapping[str, Any]
    workers: int
    clock: Callable[[], float] = time.monotonic
    skipped: Counter[str] = field(default_factory=Counter)

    def limits(self, golden: Golden) -> Limits:
        """What a mutant may use on a case: a few times the oracle's own time."""
        cpu = max(self.rule["cpu_floor_seconds"], self.rule["cpu_factor"] * golden.cpu_seconds)
        return replace(self.bench.limits, cpu_seconds=cpu, wall_seconds=2 * cpu + 1)


def measure(
    subject: Subject, bench: Bench, goldens: Sequence[Golden], split: Split, rule: Mapping[str, Any], workers: int
) -> Kills:
    """Trace every case, draw mutants, find the first killers of each.

    `rule` is the section `mutants` of rules/goldens.yaml. A side is asked `tries` cases for each
    killer; a mutant that it then has not killed counts as alive, which can only lower the score.
    Raises InfraError where the launcher fails.
    """
    sides = {i: side for side in ("held_out", "public", "reserve") for i in getattr(split, side)}
    run = _Run(subject=subject, bench=bench, goldens=goldens, sides=sides, rule=rule, workers=workers)
    traces, usable = _baseline(run)
    run.skipped["debug_build_differs"] = len(goldens) - len(usable)
    covering: dict[str, list[Golden]] = {}
    for golden in usable:
        for line in traces[golden.id]:
            covering.setdefault(line, []).append(golden)
    mutants = _kill_all(run, draw(subject.sources, covering, rule, bench.facts.language), covering)
    table = sorted(set().union(*traces.values())) if traces else []
    index = {line: i for i, line in enumerate(table)}
    return Kills(
        mutants=tuple(mutants),
        line_table=tuple(table),
        lines={i: tuple(sorted(index[line] for line in lines)) for i, lines in traces.items()},
        scope_lines=subject.scope_lines(),
        skipped=dict(sorted(run.skipped.items())),
    )


def _baseline(run: _Run) -> tuple[dict[str, frozenset[str]], list[Golden]]:
    """The lines of every case, and the cases that the unmutated build answers as the oracle did."""
    subject, limits = run.subject, run.bench.limits
    chunks = [run.goldens[i : i + CHUNK] for i in range(0, len(run.goldens), CHUNK)]

    def same(chunk: Sequence[Golden]) -> list[Golden]:
        told = subject.answers(subject.tree, iter(chunk), lambda _: limits)
        return [golden for golden, result in told if not differs(result, golden)]

    with ThreadPoolExecutor(run.workers) as pool:
        traced = [lines for part in pool.map(subject.trace, chunks) for lines in part]
        usable = [golden for part in pool.map(same, chunks) for golden in part]
    return {golden.id: lines for golden, lines in zip(run.goldens, traced, strict=True)}, usable


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


def _kill_all(run: _Run, drawn: Sequence[Mutation], covering: Mapping[str, list[Golden]]) -> list[Mutant]:
    """Try mutations in order until enough were judged or the time is over; several at a time, order kept."""
    slots: SimpleQueue[int] = SimpleQueue()
    for slot in range(run.workers):
        slots.put(slot)
    end = run.clock() + run.rule["seconds"]

    def attempt(mutation: Mutation) -> Mutant | None:
        if run.clock() > end:
            run.skipped["out_of_time"] += 1
            return None
        slot = slots.get()
        try:
            return _kill(run, slot, mutation, covering[f"{mutation.path}:{mutation.line}"])
        finally:
            slots.put(slot)

    judged: list[Mutant] = []
    wanted, rest = run.rule["count"], list(drawn)
    with ThreadPoolExecutor(run.workers) as pool:
        while rest and len(judged) < wanted and run.clock() < end:
            size = min(SLICE, wanted - len(judged))
            # Neighbours in one file are built one after the other, so each build compiles one file.
            part, rest = sorted(rest[:size]), rest[size:]
            judged.extend(mutant for mutant in pool.map(attempt, part) if mutant)
    return judged


def _kill(run: _Run, slot: int, mutation: Mutation, cases: Sequence[Golden]) -> Mutant | None:
    tree = run.subject.mutate(slot, mutation)
    if tree is None:
        run.skipped["does_not_build"] += 1
        return None
    order = sorted(cases, key=lambda g: random.Random(f"{run.rule['seed']}:{g.id}").random())  # noqa: S311
    found: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    killers: list[str] = []
    most, tries = run.rule["killers"], run.rule["tries"]

    def wanted() -> Iterator[Golden]:
        for golden in order:
            side = run.sides[golden.id]
            blind = tried[side] >= tries * (1 + found[side])
            if found[side] < most and not blind and found[OVERRUN] < run.rule["timeouts"]:
                tried[side] += 1
                yield golden

    for golden, result in run.subject.answers(tree, wanted(), run.limits):
        if differs(result, golden) and found[run.sides[golden.id]] < most:
            found[run.sides[golden.id]] += 1
            killers.append(golden.id)
        found[OVERRUN] += bool(result.limits_hit & {"cpu", "wall"})
    source = run.subject.sources[mutation.path]
    name = f"{mutation.path}:{mutation.line}:{mutation.start}:{mutation.operator}:{mutation.text.hex()[:16]}"
    return Mutant(
        id=name,
        path=mutation.path,
        line=mutation.line,
        operator=mutation.operator,
        diff=mutation.diff(source),
        killers=tuple(killers),
    )
