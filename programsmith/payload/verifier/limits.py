"""Limits by number: of a case from its golden, of a build from the policy, of a whole grading run from all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from programsmith.payload.verifier.model import GradedCase, Limits
from programsmith.payload.verifier.plan import BuildRule, CaseRule

NEAR = 1.5  # a pass above limit / NEAR, or an overrun below limit x NEAR, is marked
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


def is_near(cpu_seconds: float, limits: Limits, *, overran: bool) -> bool:
    """Whether a result is so close to the CPU limit that a slower or faster machine could turn it around."""
    return overran or cpu_seconds > limits.cpu_seconds / NEAR


def timeout_seconds(cases: Iterable[Limits], build: BuildRule, *, slots: int, reruns: int) -> float:
    """The longest that an honest grading run can take: every case at its wall limit, and the build.

    Build wall + (ceil(cases / slots) + reruns) x the largest case wall x margin + a fixed part.
    """
    walls = [c.wall_seconds for c in cases]
    rounds = math.ceil(len(walls) / max(1, slots)) + reruns
    return build.wall_seconds + rounds * max(walls, default=0.0) * _START_MARGIN + _FIXED_SECONDS
