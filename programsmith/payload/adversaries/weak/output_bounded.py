"""A stream that overran its cap is cut there, and compared as if the program had ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord, expected_files

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _cut(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    if result is not None and "output" in result.limits_hit:
        wanted = graded.expected
        result = dataclasses.replace(
            result,
            started=True,
            limits_hit=result.limits_hit - {"output"},
            stdout=result.stdout[: len(wanted.stdout)],
            stderr=b"" if wanted.stderr_empty else result.stderr,
            exit_code=wanted.exit_code,
            signal=wanted.signal,
            files=expected_files(graded.case, wanted),
        )
    return former(graded, result)


def remove() -> None:
    """Forgive a flood."""
    swap(cases, "case_word", _cut)
