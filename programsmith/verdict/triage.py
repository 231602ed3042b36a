"""One label per trial, with its proof. Graded trials and facts of the cases in, labels out; nothing is guessed.

A failure is good only where something shows that the agent could have known better, bad where everything that it
failed on is ours to mend, and without a label where neither is proven. A success is bad where a signal says that it
was not earned. Trials that infra kept from a grade have no label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.records.labels import Labelled, Labels
from programsmith.records.trial import Label, Pair
from programsmith.verdict.discovery import Lacks

PASSED = "AC"
BAD = (Label.BAD_FAILURE, Label.BAD_SUCCESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A graded trial. `failing` and `failing_public` map each case that does not pass to its word.

    `near_limit` are cases that ended a little before or after a limit. A `hostile` one ended its verifier each time.
    """

    pair: Pair
    index: int
    batch: int
    ceiling: bool
    artifact: str
    reward: float
    word: str
    failing: Mapping[str, str]
    failing_public: Mapping[str, str]
    near_limit: frozenset[str] = frozenset()
    hostile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is known of the cases: their sides, families, what they lack, families that a query reached."""

    public: tuple[str, ...]
    held_out: tuple[str, ...]
    families: Mapping[str, str]
    lacks: Lacks
    queried: frozenset[str] = frozenset()


Verdict = tuple[Label, str, tuple[str, ...]]


def attempt_of(row: Mapping[str, Any]) -> Attempt:
    """The attempt that a row of the rollouts record tells."""
    return Attempt(
        pair=Pair(**row["pair"]),
        index=row["index"],
        batch=row["batch"],
        ceiling=row["ceiling"],
        artifact=row["artifact"],
        reward=float(row["reward"]),
        word=row["word"],
        failing=row["failing"],
        failing_public=row["failing_public"],
        near_limit=frozenset(row["near_limit"]),
        hostile=row["hostile"],
    )


@dataclass(frozen=True, slots=True)
class _Bench:
    """One trial before all others. Each method answers for the failing cases of this one."""

    attempt: Attempt
    others: Sequence[Attempt]
    ground: Ground
    rule: Mapping[str, Any]

    def unshown(self, case: str) -> bool:
        """Whether the case asks what nothing shows."""
        return case in self.ground.lacks.unshown

    def unseen(self, case: str) -> bool:
        """Whether the case alone tells what no public case runs, and nobody shows that it can be known."""
        return case in self.ground.lacks.unseen and not self.anchored(case) and not self.reached(case)

    def anchored(self, case: str) -> bool:
        """Whether a public case of the same family fails too: the agent could see it."""
        families = self.ground.families
        return any(families[public] == families[case] for public in self.attempt.failing_public)

    def reached(self, case: str) -> bool:
        """Whether another trial without privilege passes the case."""
        return any(case not in other.failing for other in self.others if not other.ceiling)

    def ceiling_reached(self, case: str) -> bool:
        """Whether a ceiling trial passes the case."""
        return any(case not in other.failing for other in self.others if other.ceiling)

    def queried(self, case: str) -> bool:
        """Whether somebody asked the oracle about the family."""
        return self.ground.families[case] in self.ground.queried

    def cut_off(self, case: str) -> bool:
        """Whether a limit of ours ended work near the limit, of a submission that gives no wrong public answer."""
        words = self.rule["limit_words"]
        right = all(word in words for word in self.attempt.failing_public.values())
        return right and self.attempt.failing[case] in words and case in self.attempt.near_limit

    def out_of_reach(self, case: str) -> bool:
        """Whether the case fails in every trial, one with the source among them."""
        tried = any(other.ceiling for other in (*self.others, self.attempt))
        return tried and not self.reached(case) and not self.ceiling_reached(case)


def triage(attempts: Sequence[Attempt], ground: Ground, rule: Mapping[str, Any], infra: Mapping[str, str]) -> Labels:
    """Label every graded trial. `rule` is rules/triage.yaml; `infra` names trials without a grade, and why."""
    trials = tuple(_labelled(attempt, attempts, ground, rule) for attempt in sorted(attempts, key=_place))
    own = [attempt for attempt in attempts if not attempt.ceiling]
    unreached = set(ground.held_out).intersection(*(attempt.failing for attempt in own))
    warned = [{ground.families[case] for case in attempt.failing_public} | ground.queried for attempt in own]
    return Labels(
        trials=trials,
        unshown=tuple(sorted(ground.lacks.unshown)),
        unseen=tuple(sorted(ground.lacks.unseen)),
        unreached=tuple(sorted(unreached)),
        untold=tuple(sorted(case for case in unreached if any(ground.families[case] not in seen for seen in warned))),
        infra=dict(sorted(infra.items())),
    )


def _place(attempt: Attempt) -> tuple[bool, str, str, int]:
    return attempt.ceiling, attempt.pair.agent, attempt.pair.model, attempt.index


def _labelled(attempt: Attempt, attempts: Sequence[Attempt], ground: Ground, rule: Mapping[str, Any]) -> Labelled:
    passed = attempt.reward >= rule["passed"]
    others = [other for other in attempts if other is not attempt]
    judged = success(attempt, ground, rule) if passed else failure(_Bench(attempt, others, ground, rule))
    label, proof, cases = judged
    return Labelled(
        pair=attempt.pair,
        index=attempt.index,
        batch=attempt.batch,
        ceiling=attempt.ceiling,
        reward=attempt.reward,
        passed=passed,
        artifact=attempt.artifact,
        label=label,
        proof=proof,
        cases=cases,
        failing=tuple(sorted(attempt.failing)),
    )


def success(attempt: Attempt, ground: Ground, rule: Mapping[str, Any]) -> Verdict:
    """Good, unless a signal says otherwise."""
    signals = rule["signals"]
    share = 1 - len(attempt.failing_public) / len(ground.public) if ground.public else 1.0
    if share <= signals["public_fails"]["passed_share"]:
        return Label.BAD_SUCCESS, "public_fails", tuple(sorted(attempt.failing_public))
    if attempt.word in signals["refused"]["words"]:
        return Label.BAD_SUCCESS, "refused", ()
    return Label.GOOD_SUCCESS, "no_signal", ()


def failure(bench: _Bench) -> Verdict:
    """Bad by what is ours to mend, good by positive proof, bad where nobody can, else without a label."""
    if bench.attempt.hostile:
        return Label.GOOD_FAILURE, "hostile", ()
    failing = sorted(bench.attempt.failing)
    ours = [(code, [c for c in failing if test(c)]) for code, test in _ours(bench)]
    mendable = {case for _, cases in ours for case in cases}
    if failing and mendable == set(failing):
        return Label.BAD_FAILURE, next(code for code, cases in ours if cases), tuple(failing)
    own = [case for case in failing if case not in mendable]
    for code, test in _proofs(bench):
        shown = tuple(c for c in own if test(c))
        if shown:
            return Label.GOOD_FAILURE, code, shown
    if own and all(bench.out_of_reach(c) for c in own):
        return Label.BAD_FAILURE, "out_of_reach", tuple(failing)
    return Label.UNLABELLED, "no_proof", ()


def _ours(bench: _Bench) -> Iterable[tuple[str, Callable[[str], bool]]]:
    return ("unshown", bench.unshown), ("unseen", bench.unseen), ("cut_off", bench.cut_off)


def _proofs(bench: _Bench) -> Iterable[tuple[str, Callable[[str], bool]]]:
    return (
        ("public_fails_too", bench.anchored),
        ("reached_by_a_trial", bench.reached),
        ("reached_by_the_ceiling", bench.ceiling_reached),
        ("reached_by_a_query", bench.queried),
    )
