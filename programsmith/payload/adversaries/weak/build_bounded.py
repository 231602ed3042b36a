"""A build may use far more than the policy says."""

from __future__ import annotations

from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import build_step
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.plan import BuildRule

_AMPLE = Limits(
    cpu_seconds=60,
    wall_seconds=60,
    memory_bytes=1 << 30,
    pids=1024,
    output_bytes=1 << 26,
    work_bytes=1 << 28,
    work_files=10_000,
)


def _ample(_former: Callable[[BuildRule], Limits], _rule: BuildRule) -> Limits:
    return _AMPLE


def remove() -> None:
    """Bound no build."""
    swap(build_step, "build_limits", _ample)
