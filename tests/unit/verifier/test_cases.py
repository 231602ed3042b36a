"""Running cases: slots, second tries, what a launch is asked for. The launcher answers from a script."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from programsmith.payload.verifier.cases import Subject, run_cases
from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.plan import Plan, Policy
from programsmith.payload.verifier.report import details, judged, unbuilt
from programsmith.payload.verifier.words import BuildWord, CaseWord

GOOD = Result(started=True, exit_code=0, files=())
WALL = replace(GOOD, limits_hit=frozenset({"wall"}), exit_code=None, signal=9)
LOST = Result(fault="no status")
SUBJECT = Subject(program="/app/submission/executable", mounts=())


@dataclass
class Scripted:
    """Answers each program argument's launches from its own list, the last one over and over."""

    script: dict[bytes, list[Result]]
    name: str = "scripted"
    seen: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, request: Request) -> Result:
        with self.lock:
            self.seen.append(request)
            answers = self.script.get(request.argv[1], [GOOD])
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def probe(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        pass


@pytest.fixture
def run(policy: Policy) -> Callable[..., tuple[dict[str, CaseWord], Scripted]]:
    def start(cases: list[GradedCase], slots: int = 2, **script: list[Result]):
        launcher = Scripted({name.encode(): answers for name, answers in script.items()})
        ran = run_cases(cases, SUBJECT, policy, launcher, slots=slots)
        return {c.case.argv[0].decode(): ran[c.case.id] for c in cases}, launcher

    return start


def test_every_case_gets_a_record(run, case_of) -> None:
    ran, launcher = run([case_of(b"a"), case_of(b"b"), case_of(b"c")], b=[replace(GOOD, exit_code=1)])
    assert {name: r.word for name, r in ran.items()} == {"a": "AC", "b": "WA_EXIT", "c": "AC"}
    assert len(launcher.seen) == 3


def test_a_wall_only_overrun_counts_after_a_second_try_alone(run, case_of) -> None:
    ran, launcher = run([case_of(b"once"), case_of(b"twice")], once=[WALL, GOOD], twice=[WALL])
    assert ran["once"].word is CaseWord.AC
    assert ran["once"].again
    assert ran["once"].near_limit
    assert ran["twice"].word is CaseWord.TLE_WALL
    assert len(launcher.seen) == 4


def test_second_tries_are_bounded(run, case_of, policy: Policy) -> None:
    names = [b"a", b"b", b"c", b"d"]
    ran, launcher = run([case_of(n) for n in names], **{n.decode(): [WALL, GOOD] for n in names})
    assert len(launcher.seen) == len(names) + policy.case.reruns
    assert sorted(r.word for r in ran.values()) == ["AC", "AC", "TLE_WALL", "TLE_WALL"]


def test_an_overrun_of_cpu_and_wall_is_not_tried_again(run, case_of) -> None:
    both = replace(WALL, limits_hit=frozenset({"wall", "cpu"}))
    ran, launcher = run([case_of(b"a")], a=[both, GOOD])
    assert ran["a"].word is CaseWord.TLE_CPU
    assert len(launcher.seen) == 1


def test_a_lost_case_runs_again_and_stays_lost_only_when_it_is_lost_twice(run, case_of) -> None:
    ran, _ = run([case_of(b"a"), case_of(b"b")], a=[LOST, GOOD], b=[GOOD])
    assert ran["a"].word is CaseWord.AC
    ran, launcher = run([case_of(b"a"), case_of(b"b")], a=[LOST], b=[LOST])
    assert CaseWord.INFRA in {r.word for r in ran.values()}
    assert len(launcher.seen) == 3  # the first that stays lost settles it


def test_a_launch_carries_the_cases_input_under_the_tools_name(run, case_of) -> None:
    one = replace(case_of(b"a"), exec_allowed=("/usr/bin/sort",))
    two = replace(case_of(b"b"), exec_allowed=("/usr/bin/awk",))
    _, launcher = run([one, two])
    first = next(r for r in launcher.seen if r.argv[1] == b"a")
    assert first.argv == (b"twice", b"a")
    assert dict(first.env)[b"LC_ALL"] == b"C.UTF-8"
    assert first.hidden == ("/usr/bin/awk",)
    assert first.surroundings.cwd == "/work"


def test_cpu_between_the_limit_and_half_as_much_again_is_an_overrun_near_the_limit(run, case_of) -> None:
    ran, _ = run(
        [case_of(n) for n in (b"far", b"near", b"over", b"killed")],
        far=[replace(GOOD, cpu_seconds=1.0)],
        near=[replace(GOOD, cpu_seconds=1.5)],
        over=[replace(GOOD, cpu_seconds=2.5)],
        killed=[replace(GOOD, cpu_seconds=3.0, limits_hit=frozenset({"cpu"}))],
    )
    assert {n: (r.word.value, r.near_limit) for n, r in ran.items()} == {
        "far": ("AC", False),
        "near": ("AC", True),
        "over": ("TLE_CPU", True),
        "killed": ("TLE_CPU", False),
    }


def test_one_large_family_does_not_decide_a_fraction(case_of, policy: Policy, plan_of: Callable[..., Plan]) -> None:
    large = [case_of(b"A%d" % n, family="A") for n in range(90)]
    small = [case_of(b"B%d" % n, family=f"B{n}") for n in range(10)]
    plan = plan_of([*large, *small], [], reward="fraction")
    launcher = Scripted({c.case.argv[0]: [replace(GOOD, exit_code=1)] for c in small})
    ran = run_cases([*large, *small], SUBJECT, policy, launcher, slots=4)
    report = judged([*large, *small], ran, plan)
    assert report.reward == pytest.approx(1 / 11)
    binary = judged([*large, *small], ran, replace(plan, reward="binary"))
    assert (binary.reward, binary.fraction, details(binary)["fraction"]) == (0.0, report.reward, report.reward)
    assert judged([*large, *small], ran, replace(plan, reward="threshold", threshold=0.1)).reward == 0.0
    assert judged([*large, *small], ran, replace(plan, reward="threshold", threshold=0.09)).reward == 1.0


def test_public_cases_are_reported_and_never_scored(case_of, policy: Policy, plan_of: Callable[..., Plan]) -> None:
    held, public = case_of(b"h"), case_of(b"p", family="g")
    launcher = Scripted({b"p": [replace(GOOD, exit_code=1)]})
    ran = run_cases([held, public], SUBJECT, policy, launcher, slots=1)
    report = judged([held, public], ran, plan_of([held], [public]))
    assert report.reward == 1.0
    assert details(report)["families"] == {
        "held_out": {"f": {"passed": 1, "total": 1}},
        "public": {"g": {"passed": 0, "total": 1}},
    }


def test_a_case_without_a_record_fails(case_of, plan_of: Callable[..., Plan]) -> None:
    one, two = case_of(b"1"), case_of(b"2")
    report = judged([one, two], {}, plan_of([one, two], []))
    assert (report.reward, report.word) == (0.0, "NOT_RUN")


def test_a_case_that_stays_infra_leaves_no_reward(case_of, policy: Policy, plan_of: Callable[..., Plan]) -> None:
    one, two = case_of(b"a"), case_of(b"b")
    ran = run_cases([one, two], SUBJECT, policy, Scripted({b"b": [LOST]}), slots=1)
    report = judged([one, two], ran, plan_of([one, two], []))
    assert (report.reward, report.word, report.fault_class) == (None, "INFRA", "launcher_fault")
    assert "no status" in report.reason
    assert details(report)["fraction"] is None


def test_an_unbuilt_submission_fails_every_case_of_every_family(case_of, plan_of: Callable[..., Plan]) -> None:
    one, two = case_of(b"1"), case_of(b"2", family="g")
    report = unbuilt(BuildWord.NO_BUILD, "nothing", [one, two], plan_of([one], [two], reward="fraction"))
    assert (report.reward, report.fraction, report.word) == (0.0, 0.0, "NO_BUILD")
    assert report.families == {"held_out": {"f": (0, 1)}, "public": {"g": (0, 1)}}
