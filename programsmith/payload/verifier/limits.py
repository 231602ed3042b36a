"""Limits by number: of a case from its golden, of a build from the policy, of a whole grading run from all of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase, Limits
from programsmith.payload.verifier.plan import BuildRule, CaseRule, Policy

NEAR = 1.5  # CPU between limit / NEAR and limit x NEAR is near the limit
_EXAMINED_PER_SECOND = 1e6
_START_MARGIN = 1.25  # launches cost time of ours on top of a case's own
_FIXED_SECONDS = 60.0


def case_limits(graded: GradedCase, rule: CaseRule, language_factor: float) -> Limits:
    """What the case may use: CPU decides, wall is a lax backstop, output follows from the golden."""
    cpu = max(rule.cpu_floor_seconds, rule.cpu_factor * graded.cpu_seconds * language_factor)
    return Limits(
        cpu_seconds=cpu,
        wall_seconds=max(rule.wall_factor * cpu, cpu + rule.wall_extra_seconds),
        memory_bytes=rule.memory_bytes,
        pids=rule.pids,
        output_bytes=int(rule.output_factor * len(graded.expected.stdout)) + rule.output_extra_bytes,
        work_bytes=rule.work_bytes,
        work_files=rule.work_files,
    )


def build_limits(rule: BuildRule) -> Limits:
    """What compile.sh may use."""
    return Limits(
        cpu_seconds=rule.cpu_seconds,
        wall_seconds=rule.wall_seconds,
        memory_bytes=rule.memory_bytes,
        pids=rule.pids,
        output_bytes=rule.output_bytes,
        work_bytes=rule.work_bytes,
        work_files=rule.work_files,
    )


def launched(limits: Limits) -> Limits:
    """The limits that a case is launched with: CPU is let run a little over, so that a near miss shows as one."""
    return dataclasses.replace(limits, cpu_seconds=limits.cpu_seconds * NEAR)


def applied(result: Result, limits: Limits) -> Result:
    """A result of `launched` limits as if it had run under `limits`."""
    if result.cpu_seconds <= limits.cpu_seconds:
        return result
    return dataclasses.replace(result, limits_hit=result.limits_hit | {"cpu"})


def is_near(result: Result, limits: Limits) -> bool:
    """Whether a machine a little slower or faster could turn this result of `launched` limits around."""
    return "cpu" not in result.limits_hit and result.cpu_seconds > limits.cpu_seconds / NEAR


def timeout_seconds(cases: Iterable[Limits], policy: Policy, *, slots: int) -> float:
    """The longest that a grading run takes: every case at its wall limit, the build, the examination of the source.

    Build wall + bytes that a submission may have / 1 MB/s + (ceil(cases / slots) + 2 x reruns) x the largest case
    wall x margin + a fixed part.
    """
    walls = [c.wall_seconds for c in cases]
    rounds = math.ceil(len(walls) / max(1, slots)) + 2 * policy.case.reruns
    examined = policy.submission.bytes / _EXAMINED_PER_SECOND
    return policy.build.wall_seconds + examined + rounds * max(walls, default=0.0) * _START_MARGIN + _FIXED_SECONDS
