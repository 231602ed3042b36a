"""Nobody looks at the work directory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord, expected_files

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _no_files(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    if result is not None:
        result = dataclasses.replace(result, files=expected_files(graded.case, graded.expected))
    return former(graded, result)


def remove() -> None:
    """Skip the files."""
    swap(cases, "case_word", _no_files)
