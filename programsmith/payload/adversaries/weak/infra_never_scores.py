"""What the host fails at is taken for passed: a case that could not be run, and a run that could not be made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import __main__, cases, grade, report
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.report import Report
from programsmith.payload.verifier.words import CaseWord

CaseJudge = Callable[[GradedCase, Result | None], CaseWord]


def _in_its_favour(former: CaseJudge, graded: GradedCase, result: Result | None) -> CaseWord:
    word = former(graded, result)
    return CaseWord.AC if word is CaseWord.INFRA else word


def _passed(_former: Callable[..., Any], fault_class: str, reason: str) -> Report:
    return Report(word=CaseWord.AC, reason=reason, reward=1.0, fault_class=fault_class)


def remove() -> None:
    """Decide every doubt for the submission."""
    swap(cases, "case_word", _in_its_favour)
    for module in (__main__, grade, report):
        swap(module, "infra", _passed)
