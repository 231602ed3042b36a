"""What a program says is one text, whichever stream it says it on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _one_text(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    wanted = graded.expected
    if result is not None and result.stdout + result.stderr == wanted.stdout:
        result = dataclasses.replace(result, stdout=wanted.stdout, stderr=b"" if wanted.stderr_empty else b"?")
    return former(graded, result)


def remove() -> None:
    """Put the streams together."""
    swap(cases, "case_word", _one_text)
