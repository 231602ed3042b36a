"""Mined cases in; the kept pool, its split and all counts out. Every gate of the pipeline in its order.

Refuses nothing: a thin pool is returned with its counts, the block says the word.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from programsmith.goldens.axes import axes_of
from programsmith.goldens.capture import Capture, Variation
from programsmith.goldens.families import call_of
from programsmith.goldens.gates.bounds import input_reason, output_reason, time_reason
from programsmith.goldens.gates.discoverable import Discoverability, Shown
from programsmith.goldens.gates.duplicates import distinct, shown_alike
from programsmith.goldens.gates.lax import lax_reason
from programsmith.goldens.gates.leaks import clock_reason, leak_reason
from programsmith.goldens.gates.nulls import null_reason
from programsmith.goldens.gates.one_outcome import one_outcome
from programsmith.goldens.gates.undefined import UNDEFINED, UNPROVEN, undefined_reason
from programsmith.goldens.observe import EXACTLY, Observation, Observer
from programsmith.goldens.split import Facts, SplitRule, split
from programsmith.goldens.suspects import Watched, chances, probe, pursue
from programsmith.goldens.templates import Choice, choose
from programsmith.goldens.variance import Allowance
from programsmith.goldens.variants import SANITIZED
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import Discovery, Golden, MinedCase, Split
from programsmith.records.lock import OracleFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the gates judge by. `rule` is rules/goldens.yaml; `public` and `held_out` are the spec's.

    `constants` are those of the oracle; `queried` says that the agent may query it, so they need not be shown.
    `marks` are what must not show in an expected side, by word. `clock` gives seconds since the epoch; `clock_fault`
    says why launches cannot be told another time, None where they can. `allowed` says in what the oracle's own runs of
    a case may differ.
    """

    facts: OracleFacts
    rule: Mapping[str, Any]
    public: float
    held_out: int
    docs: tuple[FileEntry, ...]
    constants: frozenset[bytes]
    marks: Mapping[str, Sequence[bytes]]
    queried: bool = False
    allowed: Allowance = EXACTLY
    workers: int = 2
    clock: Callable[[], float] = time.time
    clock_fault: str | None = "not tried"


@dataclass(slots=True)
class Pool:
    """The result: kept goldens in id order, their sides, what each asks and shows, and every count."""

    goldens: list[Golden] = field(default_factory=list)
    discovery: dict[str, Discovery] = field(default_factory=dict)
    split: Split = field(default_factory=lambda: Split(public=(), held_out=(), reserve=()))
    dropped: Counter[str] = field(default_factory=Counter)
    templates: dict[str, Choice] = field(default_factory=dict)
    flake: dict[str, float] = field(default_factory=dict)
    launches: int = 0
    unproven: int = 0  # cases in which the build that watches for undefined behaviour passed a limit


def make_pool(mined: Sequence[MinedCase], capture: Capture, setting: Setting) -> Pool:
    """Capture, judge and split. Raises InfraError where a launcher fails."""
    pool, start = Pool(), setting.clock()
    settled = _settle(pool, mined, capture, setting)
    watched = _watch(settled, capture, setting, start)
    pool.flake = chances(list(watched.values()), setting.rule["repeats"])
    end = setting.clock()
    goldens = []
    for found in settled:
        seen = watched[found.case.id].seen
        reason = seen.dropped or _reason(found, seen, setting, capture.limits.cpu_seconds, (start, end))
        if reason:
            pool.dropped[reason] += 1
        else:
            goldens.append(_golden(found, watched[found.case.id], setting))
    goldens = _without(pool, goldens, dict.fromkeys(shown_alike(goldens), "shown_alike"))
    goldens = _without(pool, goldens, _undefined(pool, goldens, watched, capture, setting))
    goldens = _without(
        pool, goldens, dict.fromkeys(one_outcome(goldens, setting.rule["one_outcome_least"]), "one_outcome")
    )
    facts = _facts(goldens, setting)
    pool.split, undiscoverable = split(goldens, facts, _split_rule(setting))
    pool.goldens = sorted(_without(pool, goldens, undiscoverable), key=lambda g: g.id)
    pool.discovery = {g.id: _discovery(g.id, facts) for g in pool.goldens}
    pool.launches = capture.launches
    return pool


def _settle(pool: Pool, mined: Sequence[MinedCase], capture: Capture, setting: Setting) -> list[MinedCase]:
    """Cases of a known invocation and size, each once."""
    rule = setting.rule
    sized = []
    for found in mined:
        reason = input_reason(found.case, rule["size"])
        if reason:
            pool.dropped[reason] += 1
        else:
            sized.append(found)
    chosen, pool.templates = choose(
        sized,
        capture,
        share=rule["mining"]["template_share"],
        sample=rule["mining"]["template_sample"],
        seed=rule["mining"]["seed"],
        workers=setting.workers,
    )
    lost = {m.source for m in sized} - {m.source for m in chosen}
    pool.dropped["no_template"] += len(lost)
    once, repeated = distinct(chosen)
    pool.dropped["duplicate"] += repeated
    return once


def _watch(settled: Sequence[MinedCase], capture: Capture, setting: Setting, start: float) -> dict[str, Watched]:
    """Every case observed, then probes as far as launches last for what gates leave, and suspects, by case id."""
    rule = setting.rule["repeats"]
    observer = Observer(
        capture,
        axes_of(setting.rule["axes"], clock=setting.clock_fault is None),
        repeats=rule["waverer"],
        rare_share=rule["rare_share"],
        allowed=setting.allowed,
    )
    with ThreadPoolExecutor(setting.workers) as threads:
        seen = list(threads.map(lambda m: observer.observe(m.case, m.recorded), settled))
    watched = [
        Watched(case=m.case, call=call_of(m.case, setting.facts), seen=s) for m, s in zip(settled, seen, strict=True)
    ]
    window = start, setting.clock()
    good = [
        w.seen.dropped is None and _reason(m, w.seen, setting, capture.limits.cpu_seconds, window) is None
        for m, w in zip(settled, watched, strict=True)
    ]
    probe(watched, observer.again, rule, int(rule["launches"] * sum(good)) - capture.launches, setting.workers)
    pursue(watched, observer.again, rule, setting.workers)
    return {w.case.id: w for w in watched}


def _reason(
    found: MinedCase, seen: Observation, setting: Setting, cpu_limit: float, window: tuple[float, float]
) -> str | None:
    """The first gate that drops a case which held still."""
    case, expected, size = found.case, seen.expected, setting.rule["size"]
    usage = {e.content.strip() for e in setting.docs if e.kind == "file"}
    return (
        output_reason(expected, size)
        or time_reason(seen.cpu_seconds, cpu_limit, size["cpu_share"])
        or null_reason(case, expected, usage)
        or leak_reason(case, expected, setting.marks)
        or (setting.clock_fault and clock_reason(case, setting.allowed.visible(expected, seen.varies), *window))
        or _lax_reason(seen, setting)
    )


def _undefined(
    pool: Pool, goldens: Sequence[Golden], watched: Mapping[str, Watched], capture: Capture, setting: Setting
) -> dict[str, str]:
    """Cases that a build which watches for undefined behaviour does not show; none where there is no such build."""
    if SANITIZED not in capture.forms:
        return {}

    def judge(golden: Golden) -> str | None:
        if watched[golden.id].seen.defined:
            return None
        result = capture.vary(golden.case, Variation(form=SANITIZED))
        varies = watched[golden.id].seen.varies
        return undefined_reason(golden.case, golden.expected, result, setting.allowed, varies)

    with ThreadPoolExecutor(setting.workers) as threads:
        found = dict(zip((g.id for g in goldens), threads.map(judge, goldens), strict=True))
    pool.unproven = sum(word == UNPROVEN for word in found.values())
    return {i: word for i, word in found.items() if word == UNDEFINED}


def _lax_reason(seen: Observation, setting: Setting) -> str | None:
    """`lax`, of the comparator that the case gets for its output."""
    found = dict(setting.allowed.of(seen.varies)).get("stdout")
    return lax_reason(seen.expected.stdout, found) if found else None


def cpu_class(seconds: float, step: float) -> float:
    """CPU time rounded up to `step` times a power of two: the bytes of a pool do not vary from run to run."""
    return step * 2.0 ** max(0, math.ceil(math.log2(max(seconds, step) / step)))


def _golden(found: MinedCase, watched: Watched, setting: Setting) -> Golden:
    return Golden(
        id=found.case.id,
        case=found.case,
        expected=watched.seen.expected,
        provenance=found.provenance,
        family=watched.call.family,
        group=found.group,
        agreement=watched.seen.agreement,
        cpu_seconds=cpu_class(watched.seen.cpu_seconds, setting.rule["size"]["cpu_step_seconds"]),
        exec_seen=setting.facts.exec_allowed,
        compare=setting.allowed.of(watched.seen.varies),
    )


def _without(pool: Pool, goldens: Sequence[Golden], reasons: Mapping[str, str]) -> list[Golden]:
    pool.dropped.update(reasons[g.id] for g in goldens if g.id in reasons)
    return [g for g in goldens if g.id not in reasons]


def _facts(goldens: Sequence[Golden], setting: Setting) -> Facts:
    shown = Shown(setting.docs)
    judge = Discoverability(setting.facts, shown, setting.constants, with_constants=not setting.queried)
    least = setting.rule["size"]["visible_bytes"]
    calls = {g.id: call_of(g.case, setting.facts) for g in goldens}
    return Facts(
        needs={g.id: judge.need(g).all for g in goldens},
        shows={g.id: judge.shows(g) for g in goldens},
        options={i: c.options | ({c.subcommand} if c.subcommand else set()) for i, c in calls.items()},
        open_only=frozenset(
            g.id for g in goldens if len(g.expected.stdout) >= least and shown.holds_exactly(g.expected.stdout)
        ),
    )


def _discovery(case: str, facts: Facts) -> Discovery:
    return Discovery(
        needs=tuple(sorted(facts.needs[case])),
        shows=tuple(sorted(facts.shows[case])),
        options=tuple(sorted(facts.options[case])),
        open_only=case in facts.open_only,
    )


def _split_rule(setting: Setting) -> SplitRule:
    rule = setting.rule
    return SplitRule(
        public=setting.public,
        public_least=rule["split"]["public_least"],
        held_out=setting.held_out,
        same_expected_share=rule["same_expected_share"],
        argv_distance=rule["split"]["argv_distance"],
        seed=rule["split"]["seed"],
    )
