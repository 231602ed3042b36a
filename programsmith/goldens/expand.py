"""Expansion of a thin pool: mutated inputs of its cases, kept where the oracle runs what no case before them ran.

In: the kept cases, what of the oracle each reaches, a way to run. Out: cases with the case that each was made of, its
operator and seed. They pass every gate afterwards like mined ones, and what they should show is captured like theirs.
Coverage is what the subject tells: lines, and how often each ran by power of two where it counts that (as coverage
guided fuzzers do: Zalewski, AFL). A case whose outcome another has already proves nothing and is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from programsmith.goldens.capture import Capture, expected_of, unsound
from programsmith.goldens.gates.bounds import input_reason
from programsmith.goldens.mutate import Stock, mutated, stock_of
from programsmith.payload.verifier.model import Case, Expected
from programsmith.records.golden import Golden, MinedCase, Provenance

EXPANSION = "expansion"  # the miner's name of such a case
SURVIVORS = "survivors"  # of one that was made to kill a surviving mutant
BATCH = 8  # inputs that are run before any of them is judged: the same for any number of workers
Reach = Callable[[Sequence[Golden]], Sequence[frozenset[str]]]


@dataclass(slots=True)
class Expansion:
    """The cases found, in order, and the count of what was tried."""

    cases: list[MinedCase] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Input:
    parent: Golden
    operator: str
    seed: str
    golden: Golden


def expand(
    goldens: Sequence[Golden],
    reach: Reach,
    capture: Capture,
    options: Sequence[str],
    rule: Mapping[str, Any],
    clock: Callable[[], float],
) -> Expansion:
    """Mutate until the pool would hold `enough` cases, `tries` inputs were run, or `seconds` are over (counted).

    `rule` is rules/goldens.yaml; `options` are those that the oracle documents. Raises InfraError.
    """
    own, made = rule["expansion"], Expansion()
    end = clock() + own["seconds"]
    parents = sorted(goldens, key=lambda g: g.id)
    seen = frozenset[str]().union(*reach(parents)) if parents else frozenset()
    outcomes = {g.expected for g in parents}
    inputs = _inputs(parents, [o.encode() for o in options], rule)
    while parents and len(goldens) + len(made.cases) < own["enough"]:
        if clock() >= end:
            made.tried["out_of_time"] = 1  # what this host found in time is no more than a part
            break
        batch = [one for one, _ in zip(inputs, range(BATCH), strict=False)]
        made.tried["run"] += len(batch)
        for one, once in zip(batch, reach([b.golden for b in batch]), strict=True):
            # Reached by two runs: by chance one may reach more than the next.
            if once <= seen or (lines := once & reach([one.golden])[0]) <= seen:
                made.tried["nothing_new"] += 1
                continue
            expected = _shown(one.golden.case, capture)
            if expected is None or expected in outcomes:
                made.tried["outcome_known" if expected else "unsound"] += 1
                continue
            seen |= lines
            outcomes.add(expected)
            parents.append(replace(one.golden, expected=expected))
            made.cases.append(made_of(one.golden.case, one.parent, EXPANSION, one.operator, one.seed))
        if len(batch) < BATCH:
            break
    return made


def _inputs(parents: list[Golden], options: Sequence[bytes], rule: Mapping[str, Any]) -> Iterator[_Input]:
    """Inputs that were not there before: the parents take turns, and what is found becomes a parent."""
    own, known = rule["expansion"], {g.case.id for g in parents}
    for turn in range(own["tries"]):
        parent = parents[turn % len(parents)]
        seed = f"{own['seed']}:{parent.id}:{turn}"
        stock: Stock = stock_of([g.case for g in parents], options)
        made = mutated(parent.case, stock, seed)
        if made is None or made[1].id in known or input_reason(made[1], rule["size"]):
            continue
        known.add(made[1].id)
        yield _Input(parent, made[0], seed, replace(parent, id=made[1].id, case=made[1]))


def _shown(case: Case, capture: Capture) -> Expected | None:
    result = capture.run(case)
    return None if unsound(result) else expected_of(case, result)


def made_of(case: Case, parent: Golden, miner: str, operators: str, seed: str) -> MinedCase:
    """A case that was made of another: where that was found, and how it was made; it stays with its group."""
    origin = parent.provenance
    return MinedCase(
        case=case,
        provenance=Provenance(
            miner=miner,
            path=origin.path,
            line=origin.line,
            blob=origin.blob,
            licence=origin.licence,
            made=f"{operators} of {parent.id}, seed {seed}",
        ),
        group=parent.group,
    )
