"""Repeats and folded perturbations of one case: it holds still, or the word for why it does not.

Twice as graded, then twice with all axes turned at once. Where there is a build that watches for undefined behaviour,
it stands for the second launch, unless it shows something else. Only a difference is bisected to the axis that causes
it; only a case that wavers without a cause gets the long row of repeats. Where the spec compares a stream loosely, a
case may waver in it as its comparator allows: it then holds still in everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from programsmith.goldens.agreement import ABSENT, DISAGREE, agreement
from programsmith.goldens.axes import SETTINGS, Axis, vary
from programsmith.goldens.capture import Capture, Variation, expected_of, unsound
from programsmith.goldens.variance import STILL, Allowance
from programsmith.goldens.variants import SANITIZED as WATCHING
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, Expected
from programsmith.records.golden import Recorded

FLAKY = "flaky"
NOTHING = Recorded()
REPLAY_DIFFERS = "replay_differs"
UNEXPLAINED = "depends_on_surroundings"
EXACTLY = Allowance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What launches of a case showed. `dropped` is the counted word, None where the case holds still.

    `rare` marks a waver whose usual outcome takes at least the rule's share of the repeats: what other cases that
    use the same options may show as rarely. `runs` counts launches that showed `expected`, as graded or by the build
    which watches for undefined behaviour; `defined` says that this one did. `varies` are the streams in which launches
    differed as they may.
    """

    expected: Expected
    cpu_seconds: float
    runs: int
    agreement: str = ABSENT
    dropped: str | None = None
    rare: bool = False
    varies: frozenset[str] = STILL
    defined: bool = False


class Observer:
    """Observes cases through one capture. `allowed` says in what launches of a case may differ."""

    def __init__(
        self,
        capture: Capture,
        axes: Sequence[Axis],
        *,
        repeats: int,
        rare_share: float,
        allowed: Allowance = EXACTLY,
    ) -> None:
        self._capture = capture
        self._allowed = allowed
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
        if fault is None and recorded.binding and base.agreement == DISAGREE:
            fault = REPLAY_DIFFERS
        if fault:
            return replace(base, dropped=fault)
        base = self._repeated(case, base)
        for setting in SETTINGS:
            if base.dropped is None:
                base = self._turned(case, base, setting)
        return base

    def _repeated(self, case: Case, base: Observation) -> Observation:
        """The case launched once more: by the build that watches, where it shows the same, else as graded."""
        if WATCHING in self._capture.forms:
            watched = self._capture.vary(case, Variation(form=WATCHING))
            if self._difference(case, base.expected, watched) == STILL:
                return replace(base, runs=2, defined=True)
        second = self._capture.run(case)
        base = replace(base, cpu_seconds=max(base.cpu_seconds, second.cpu_seconds), runs=2)
        return base if self._difference(case, base.expected, second) == STILL else self._waver(case, base, [second])

    def again(self, case: Case, seen: Observation, times: int) -> Observation:
        """Up to `times` more launches as graded, until one differs otherwise than it may."""
        for done in range(times):
            found = self._difference(case, seen.expected, self._capture.run(case))
            if found is None:
                return replace(seen, runs=seen.runs + done, dropped=FLAKY, rare=True)
            seen = replace(seen, varies=seen.varies | found)
        return replace(seen, runs=seen.runs + times)

    def _difference(self, case: Case, expected: Expected, result: Result) -> frozenset[str] | None:
        """Streams in which a launch differs as it may; None where it differs otherwise."""
        return None if unsound(result) else self._allowed.differences(expected, expected_of(case, result))

    def _waver(self, case: Case, base: Observation, others: list[Result]) -> Observation:
        """Name a waver that no axis explains by a row of repeats.

        It may waver so, or it is flaky, or unexplained where every run is alike.
        """
        results = [*others, *(self._capture.run(case) for _ in range(self._repeats))]
        found = [self._difference(case, base.expected, r) for r in results]
        if None not in found and any(found):
            return replace(base, runs=base.runs + self._repeats, varies=reduce(STILL.union, filter(None, found), STILL))
        shown = [base.expected, *(expected_of(case, r) for r in results if unsound(r) is None)]
        usual = max(sum(self._allowed.differences(a, b) is not None for b in shown) for a in shown)
        still = usual == len(results) + 1
        return replace(
            base, dropped=UNEXPLAINED if still else FLAKY, rare=usual >= self._rare_share * (len(results) + 1)
        )

    def _turned(self, case: Case, base: Observation, setting: int) -> Observation:
        """The case with all axes turned. Where it differs as it may, repeats say first whether it does by itself."""
        found = self._shown(case, base, self._axes, setting)
        if found is not None and not found <= base.varies:
            seen = self._waver(case, base, [])
            base = seen if seen.dropped is None else base
        if found is not None and found <= base.varies:
            return base
        cause = self._cause(case, base, setting)
        return replace(base, dropped=cause) if cause else self._unexplained(case, base, setting)

    def _unexplained(self, case: Case, base: Observation, setting: int) -> Observation:
        """What a difference without a cause comes to: a waver that repeats show too, and nothing beyond it."""
        seen = self._waver(case, base, [])
        if seen.dropped is None and self._differs(case, seen, self._axes, setting):
            return replace(seen, dropped=UNEXPLAINED)
        return seen

    def _differs(self, case: Case, base: Observation, axes: Sequence[Axis], setting: int) -> bool:
        """Whether turned axes show something that launches as graded do not."""
        found = self._shown(case, base, axes, setting)
        return found is None or not found <= base.varies

    def _shown(self, case: Case, base: Observation, axes: Sequence[Axis], setting: int) -> frozenset[str] | None:
        variation: Variation = vary(axes, setting)
        return self._difference(case, base.expected, self._capture.vary(case, variation))

    def _cause(self, case: Case, base: Observation, setting: int) -> str | None:
        """Halve the axes until one is left, and confirm it alone."""
        left = self._axes
        while len(left) > 1:
            half = left[: len(left) // 2]
            left = half if self._differs(case, base, half, setting) else left[len(left) // 2 :]
        return left[0].cause if self._differs(case, base, left, setting) else None
