"""Nobody minds how long an answer took."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _in_time(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    if result is not None:
        result = dataclasses.replace(result, limits_hit=result.limits_hit - {"cpu", "wall"})
    return former(graded, result)


def remove() -> None:
    """Ignore timeouts."""
    swap(cases, "case_word", _in_time)
