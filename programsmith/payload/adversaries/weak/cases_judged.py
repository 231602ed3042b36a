"""Every case is right."""

from __future__ import annotations

from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _right(_former: CaseJudge, _graded: GradedCase, _result: Result | None) -> CaseWord:
    return CaseWord.AC


def remove() -> None:
    """Accept all."""
    swap(cases, "case_word", _right)
