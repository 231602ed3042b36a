"""A case passes when the program says so, as where a log is parsed."""

from __future__ import annotations

from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _believed(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    said = result.stdout + result.stderr if result is not None else b""
    return CaseWord.AC if b"PASSED" in said else former(graded, result)


def remove() -> None:
    """Believe it."""
    swap(cases, "case_word", _believed)
