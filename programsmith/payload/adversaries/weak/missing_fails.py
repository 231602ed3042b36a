"""A case without a result counts as passed."""

from __future__ import annotations

from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _lenient(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    word = former(graded, result)
    return CaseWord.AC if word is CaseWord.NOT_RUN else word


def remove() -> None:
    """Take silence for consent."""
    swap(cases, "case_word", _lenient)
