"""Any way of ending is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _any_end(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    if result is not None and result.started:
        wanted = graded.expected
        result = dataclasses.replace(result, exit_code=wanted.exit_code, signal=wanted.signal)
    return former(graded, result)


def remove() -> None:
    """Skip the exit code."""
    swap(cases, "case_word", _any_end)
