"""Repeats and folded perturbations of one case: it holds still, or the word for why it does not.

Twice as graded, then twice with all axes turned at once. Only a difference is bisected to the axis that causes it;
only a case that wavers without a cause gets the long row of repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from programsmith.goldens.agreement import ABSENT, agreement
from programsmith.goldens.axes import SETTINGS, Axis, vary
from programsmith.goldens.capture import Capture, Variation, expected_of, same, unsound
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, Expected
from programsmith.records.golden import Recorded

FLAKY = "flaky"
NOTHING = Recorded()
UNEXPLAINED = "depends_on_surroundings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What launches of a case showed. `dropped` is the counted word, None where the case holds still.

    `rare` marks a waver whose usual outcome takes at least the rule's share of the repeats: what other cases that
    use the same options may show as rarely. `runs` counts launches as graded that showed `expected`.
    """

    expected: Expected
    cpu_seconds: float
    runs: int
    agreement: str = ABSENT
    dropped: str | None = None
    rare: bool = False


class Observer:
    """Observes cases through one capture."""

    def __init__(self, capture: Capture, axes: Sequence[Axis], *, repeats: int, rare_share: float) -> None:
        self._capture = capture
        self._axes = tuple(axes)
        self._repeats = repeats
        self._rare_share = rare_share

    def observe(self, case: Case, recorded: Recorded = NOTHING) -> Observation:
        """Four launches where the case holds still; more only where it does not. Raises InfraError."""
        first = self._capture.run(case)
        base = Observation(
            expected=expected_of(case, first),
            cpu_seconds=first.cpu_seconds,
            runs=1,
            agreement=agreement(recorded, first),
        )
        fault = unsound(first)
        if fault:
            return replace(base, dropped=fault)
        second = self._capture.run(case)
        base = replace(base, cpu_seconds=max(first.cpu_seconds, second.cpu_seconds), runs=2)
        if unsound(second) or not same(base.expected, expected_of(case, second)):
            return self._waver(case, base, [second])
        for setting in SETTINGS:
            if self._differs(case, base.expected, self._axes, setting):
                cause = self._cause(case, base.expected, setting)
                return replace(base, dropped=cause) if cause else self._waver(case, base, [])
        return base

    def again(self, case: Case, seen: Observation, times: int) -> Observation:
        """Up to `times` more launches as graded, until one differs."""
        for done in range(times):
            result = self._capture.run(case)
            if unsound(result) or not same(seen.expected, expected_of(case, result)):
                return replace(seen, runs=seen.runs + done, dropped=FLAKY, rare=True)
        return replace(seen, runs=seen.runs + times)

    def _waver(self, case: Case, base: Observation, others: list[Result]) -> Observation:
        """Name a waver that no axis explains by a row of repeats: flaky, or unexplained where every run is alike."""
        results = [*others, *(self._capture.run(case) for _ in range(self._repeats))]
        shown = [base.expected, *(expected_of(case, r) for r in results if unsound(r) is None)]
        usual = max(sum(same(a, b) for b in shown) for a in shown)
        still = usual == len(results) + 1
        return replace(
            base, dropped=UNEXPLAINED if still else FLAKY, rare=usual >= self._rare_share * (len(results) + 1)
        )

    def _differs(self, case: Case, base: Expected, axes: Sequence[Axis], setting: int) -> bool:
        variation: Variation = vary(axes, setting)
        result = self._capture.vary(case, variation)
        return unsound(result) is not None or not same(base, expected_of(case, result))

    def _cause(self, case: Case, base: Expected, setting: int) -> str | None:
        """Halve the axes until one is left, and confirm it alone."""
        left = self._axes
        while len(left) > 1:
            half = left[: len(left) // 2]
            left = half if self._differs(case, base, half, setting) else left[len(left) // 2 :]
        return left[0].cause if self._differs(case, base, left, setting) else None
