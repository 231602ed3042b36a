"""Cases that are too large to ship, or that ran too near a limit to be graded safely."""

from __future__ import annotations

from collections.abc import Mapping

from programsmith.goldens.capture import inputs_of, outputs_of
from programsmith.payload.verifier.model import Case, Expected


def input_reason(case: Case, rule: Mapping[str, int]) -> str | None:
    """`input_too_large` before any launch. `rule` is section `size` of rules/goldens.yaml, bytes."""
    return "input_too_large" if len(inputs_of(case)) > rule["input_bytes"] else None


def output_reason(expected: Expected, rule: Mapping[str, int]) -> str | None:
    """`output_too_large`: what the verifier would have to hold and compare."""
    return "output_too_large" if len(outputs_of(expected)) > rule["output_bytes"] else None


def time_reason(cpu_seconds: float, limit: float, share: float) -> str | None:
    """`near_time_limit` where the oracle took more than `share` of the CPU time that a launch may take."""
    return "near_time_limit" if cpu_seconds > share * limit else None
