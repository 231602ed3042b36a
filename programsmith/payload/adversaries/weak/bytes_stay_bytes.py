"""Names and output are taken for text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases, report
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _as_text(_former: Any, raw: bytes) -> str:
    return raw.decode("utf-8")


def _reading(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    if result is not None and result.stdout != graded.expected.stdout:
        result.stdout.decode("utf-8")
    return former(graded, result)


def remove() -> None:
    """Decode."""
    swap(report, "named", _as_text)
    swap(cases, "case_word", _reading)
