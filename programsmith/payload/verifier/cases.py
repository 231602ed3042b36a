"""Cases in parallel slots: graded cases and a built subject go in, one record per case id comes out.

Comparison happens here, in the grader, never where submitted code runs. A case that only the wall clock ended runs
once more alone before that counts, and so does one that the launcher could not run; both a bounded number of times.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from programsmith.payload.verifier.environment import case_env
from programsmith.payload.verifier.launcher import Launcher, Mount, Request, Result
from programsmith.payload.verifier.limits import applied, case_limits, is_near, launched
from programsmith.payload.verifier.model import GradedCase, Limits
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.words import CaseWord, case_word


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is run: the absolute path inside, and the trees that are shown beside the view.

    `words` come before those of a case; None: the tool's name.
    """

    program: str
    mounts: tuple[Mount, ...]
    words: tuple[bytes, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of one case. `reason` is the launcher's fault, empty otherwise."""

    word: CaseWord
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    near_limit: bool = False
    again: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything that running a case needs besides the case."""

    subject: Subject
    policy: Policy
    launcher: Launcher
    startable: frozenset[str]

    def limits(self, graded: GradedCase) -> Limits:
        """What the case may use."""
        return case_limits(graded, self.policy.case, self.policy.cpu_factor)

    def request(self, graded: GradedCase) -> Request:
        """The launch of the case; it hides what the oracle started in other cases only."""
        return Request(
            program=self.subject.program,
            argv=(*(self.subject.words or (self.policy.tool.encode(),)), *graded.case.argv),
            env=case_env(graded.case.env),
            limits=launched(self.limits(graded)),
            stdin=graded.case.stdin,
            files=graded.case.files,
            mounts=self.subject.mounts,
            hidden=tuple(sorted(self.startable.difference(graded.exec_allowed))),
        )

    def run(self, graded: GradedCase) -> tuple[bool, Ran]:
        """Run and judge one case; whether its end may be the host's doing, and its record."""
        limits = self.limits(graded)
        result = self.launcher.run(self.request(graded))
        under = applied(result, limits)
        ran = Ran(
            word=case_word(graded, under),
            cpu_seconds=result.cpu_seconds,
            wall_seconds=result.wall_seconds,
            near_limit=is_near(result, limits),
            reason=result.fault or "",
        )
        return _is_doubtful(under, ran.word), ran


def startable(cases: Iterable[GradedCase]) -> frozenset[str]:
    """Executables outside the submission that the oracle was seen to start in any of the cases."""
    return frozenset(path for graded in cases for path in graded.exec_allowed)


def run_cases(
    cases: Iterable[GradedCase], subject: Subject, policy: Policy, launcher: Launcher, *, slots: int
) -> dict[str, Ran]:
    """Run every case; the record of each by id. Raises LauncherError where the launcher gives up altogether."""
    by_id = {graded.case.id: graded for graded in cases}
    bench = Bench(subject, policy, launcher, startable(by_id.values()))
    with ThreadPoolExecutor(max_workers=slots) as pool:
        first = dict(zip(by_id, pool.map(bench.run, by_id.values()), strict=True))
    return _again(first, by_id, bench)


def _again(first: Mapping[str, tuple[bool, Ran]], by_id: Mapping[str, GradedCase], bench: Bench) -> dict[str, Ran]:
    ran = {name: record for name, (_, record) in first.items()}
    for word in (CaseWord.INFRA, CaseWord.TLE_WALL):
        names = sorted(name for name, (doubtful, record) in first.items() if doubtful and record.word is word)
        for name in names[: bench.policy.case.reruns]:
            _, second = bench.run(by_id[name])
            ran[name] = dataclasses.replace(second, near_limit=True, again=True)
            if second.word is CaseWord.INFRA:
                return ran
    return ran


def _is_doubtful(result: Result, word: CaseWord) -> bool:
    return word is CaseWord.INFRA or result.limits_hit == {"wall"}
