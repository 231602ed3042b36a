"""What grading costs, beside a bare loop over the same cases and beside a sequential verifier with scans.

`python benchmarks/verifier.py [--quick] [--rounds N] [--json]`. In: nothing. Out: what bars.py prints; exit code 1
where a bar is missed. Each of the three builds the submission and runs every case: this verifier as the pipeline runs
it, on a bundle with sealed cases, isolated, in two slots; a loop of subprocess.run without isolation; scans.py step
by step. A run that does not find the submission right ends the benchmark. Isolation and stability are launch.py's own
rows, and a right submission graded whole under load. Without a C compiler, strace or a static C library rows are
`missing`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import launch
from bars import MISSING, Answer, Run, idle_cores, median, ratio
from scans import OBJECTS

from programsmith import __version__
from programsmith.bundle.grade import Grade, grade
from programsmith.bundle.render import PAYLOAD
from programsmith.bundle.seal import seal
from programsmith.bundle.zipapp import verify_pyz
from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.environment import COMPILE, EXECUTABLE, case_env
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.plan import Plan, encode_cases, encode_plan, encode_policy
from programsmith.payload.verifier.unseal import Purpose
from programsmith.payload.verifier.words import CaseWord
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.config import launcher_config
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.views import build_view, interpreter_path, run_view

HERE = Path(__file__).parent
STEPS = ("submission", "smuggled", "similarity", "traced", "cases")
FLAGS = {"oracle": "-O1", "prebuilt": "-O2"}
BUILD = {"c": "cc -O2 {static} -o executable ./*.c", "python": "cat main.py >executable && chmod 755 executable"}
LARGE, FILLS = 400_000, {"submission": 1_000_000, "oracle": 2_000_000, "prebuilt": 3_000_000}
"""Lines of eight bytes that fill a large executable up, and the number in the first of them."""
ENVIRONMENT = {**{os.fsdecode(k): os.fsdecode(v) for k, v in case_env()}, "PATH": "/usr/local/bin:/usr/bin:/bin"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A program that is graded: its language, the milliseconds that it uses, whether it is linked statically.

    `quick` are its cases with --quick, `cases` without it. A `large` one is filled up to the size that Go's have.
    """

    name: str
    language: str
    milliseconds: int
    quick: int
    cases: int
    static: bool = False
    large: bool = False


ROWS = (
    Row(name="c_1ms", language="c", milliseconds=1, quick=300, cases=300),
    Row(name="c_10ms", language="c", milliseconds=10, quick=300, cases=300),
    Row(name="c_10ms_static", language="c", milliseconds=10, quick=100, cases=100, static=True),
    Row(name="c_10ms_large", language="c", milliseconds=10, quick=100, cases=100, static=True, large=True),
    Row(name="python_1ms", language="python", milliseconds=1, quick=60, cases=300),
    Row(name="python_10ms", language="python", milliseconds=10, quick=100, cases=300),
)
STABLE = "c_10ms"  # what is graded whole under load


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Whether it is quick; rounds; rows that the scans run on; runs under load; what launch.py's rows take."""

    quick: bool
    rounds: int
    scanned: frozenset[str]
    runs: int
    launches: launch.Plan


QUICK = Amount(
    quick=True,
    rounds=1,
    scanned=frozenset({"c_10ms_static", "c_10ms_large"}),
    runs=1,
    launches=launch.Plan(rounds=30, batch=60, batches=1, stable=30, runs=2),
)
WHOLE = Amount(quick=False, rounds=5, scanned=frozenset(row.name for row in ROWS), runs=10, launches=launch.WHOLE)


def main() -> int:
    """Measure each row, then the rows of isolation and stability."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds, at most 40 seconds")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--rounds", type=int, help="how often each program is graded in each way")
    options = parser.parse_args()
    amount = QUICK if options.quick else WHOLE
    amount = replace(amount, rounds=options.rounds or amount.rounds)
    answer = Answer("verifier", quick=options.quick, versions={"programsmith": __version__})
    with tempfile.TemporaryDirectory(prefix="programsmith-verifier.") as folder:
        Path(folder).chmod(0o755)
        before = idle_cores()
        for row in ROWS:
            measure(row, Path(folder), amount, answer)
        isolation(Path(folder), amount.launches, answer)
        answer.idle = min(before, idle_cores())
    return answer.end(as_json=options.json)


def measure(row: Row, folder: Path, amount: Amount, answer: Answer) -> None:
    """Time one program in three ways, one after the other in every round; and the verifier under load."""
    bench = made(row, folder, amount, answer)
    scanned = row.name in amount.scanned
    runs = timed(bench, amount.rounds, scanned=scanned) if bench else {}
    for name, each in runs.items():
        answer.figures[f"{name}_{row.name}_ms"] = round(median(each).wall)
    for name in ("loop", "scans") if scanned else ("loop",):
        found = ratio(runs[name], runs["verifier"]) if name in runs else MISSING
        answer.ratios[f"{name}_over_verifier_{row.name}"] = found
    if row.name == STABLE:
        answer.figures["grade_changes_under_hogs"] = changes(bench, amount.runs) if bench else MISSING
        answer.figures["grades_under_hogs"] = amount.runs


def made(row: Row, folder: Path, amount: Amount, answer: Answer) -> Bench | None:
    """The program as it is graded; None where this host lacks what makes it."""
    try:
        return Bench(row, folder / row.name, row.quick if amount.quick else row.cases)
    except PrerequisiteError as fault:
        answer.versions[row.name] = str(fault)
        return None


def timed(bench: Bench, rounds: int, *, scanned: bool) -> dict[str, list[Run]]:
    """Runs of each way, once the verifier has started; `scans` among them where this host has strace."""
    ways: dict[str, Callable[[], object]] = {"verifier": bench.verifier, "loop": bench.loop}
    if scanned and shutil.which("strace"):
        ways["scans"] = bench.scans
    bench.started()
    runs: dict[str, list[Run]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            runs[name].append(launch.timed(way))
    return runs


class Bench:
    """One program as a bundle, as a folder for the loop and as one for the scans. Raises PrerequisiteError."""

    def __init__(self, row: Row, folder: Path, count: int) -> None:
        folder.mkdir()
        self._row, self._bundle, self._environment = row, folder / "bundle", folder / "environment.json"
        self._submission, self._out, self._bare = folder / "submission", folder / "out", folder / "bare"
        self.cases = [launch.graded(row.milliseconds, number) for number in range(count)]
        tc = toolchains(Rulebook(None).load("toolchains"))[row.language]
        views = {"build": build_view(tc), "run": run_view(tc)}
        place = {name: launcher_config(view) for name, view in views.items()}
        self._environment.write_text(json.dumps({"kind": "bubblewrap", **place}))
        write_bundle(self._bundle, tc, self.cases)
        self._submission.mkdir()
        for name, content in sources(row, tc).items():
            (self._submission / name).write_bytes(content)
        self._rival()

    def grade(self) -> Grade:
        """The grade that the pipeline gives."""
        return grade(self._bundle, self._submission, self._environment, self._out)

    def verifier(self) -> None:
        """Grade once. Raises RuntimeError where the right submission is not found right."""
        found = self.grade()
        if found.reward != 1:
            raise RuntimeError(f"{self._row.name}: wanted reward 1, got {found.reward}: {found.word}: {found.reason}")

    def started(self) -> None:
        """Have the pipeline's verifier start, which it does once for many gradings: grade nothing at all."""
        nothing = self._out.with_name("nothing")
        nothing.mkdir(exist_ok=True)
        grade(self._bundle, nothing, self._environment, self._out)

    def loop(self) -> None:
        """Build, then one case after the other. Raises RuntimeError where one fails."""
        self._built()
        for case in self.cases:
            words = [str(self._bare / "submission" / EXECUTABLE), *map(os.fsdecode, case.case.argv)]
            done = subprocess.run(words, input=b"", capture_output=True, check=False, env=ENVIRONMENT)
            if (done.stdout, done.returncode) != (case.expected.stdout, case.expected.exit_code):
                raise RuntimeError(f"{self._row.name}: {words} said {done.stdout!r} and ended with {done.returncode}")

    def scans(self) -> None:
        """Build, then the steps of scans.py. Raises RuntimeError where a case fails; other objections count nothing."""
        self._built()
        for step in STEPS:
            words = [sys.executable, "-I", str(HERE / "scans.py"), step, str(self._bare)]
            done = subprocess.run(words, check=False, capture_output=True, env=ENVIRONMENT)
            if done.returncode not in {0, OBJECTS} or (done.returncode and step == STEPS[-1]):
                raise RuntimeError(f"{self._row.name}: {step} ended with {done.returncode}: {done.stderr!r}")

    def _built(self) -> None:
        """The submission, built anew without isolation."""
        place = self._bare / "submission"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self._submission, place)
        subprocess.run(["/bin/sh", COMPILE], cwd=place, check=True, capture_output=True, env=ENVIRONMENT)

    def _rival(self) -> None:
        """What the scans look for, and the cases with a fixture each."""
        fixtures = self._bare / "fixtures"
        fixtures.mkdir(parents=True)
        for name, flag in FLAGS.items():
            compiled(flag, self._bare / name, self._row)
        listed = []
        for case in self.cases:
            (fixtures / f"{case.case.id}.expected.stdout").write_bytes(case.expected.stdout)
            words = [os.fsdecode(word) for word in case.case.argv]
            listed.append({"id": case.case.id, "args": words, "expected_rc": case.expected.exit_code})
        (self._bare / "cases.json").write_text(json.dumps(listed))


def compiled(flag: str, at: Path, row: Row) -> None:
    """Another C program. Raises PrerequisiteError without a compiler or the library."""
    files = sorted((PAYLOAD / "table" / "c").glob("*.c"))
    words = ["cc", flag, *(["-static"] if row.static else []), "-o", str(at), *map(str, files)]
    with contextlib.suppress(OSError):
        if subprocess.run(words, check=False, capture_output=True).returncode == 0:
            if row.large:
                subprocess.run(["/bin/sh", "-c", filling(at.name, at.name)], cwd=at.parent, check=True)
            return
    raise PrerequisiteError("apt-get install -y gcc libc6-dev")


def filling(name: str, program: str) -> str:
    """The shell command that fills an executable up: behind its end, where nothing of it is run."""
    return f"seq {FILLS[name]} {FILLS[name] + LARGE - 1} >>{program}"


def sources(row: Row, tc: Toolchain) -> dict[str, bytes]:
    """The submission's files."""
    script = BUILD[row.language].format(static="-static" if row.static else "")
    more = f"{filling('submission', EXECUTABLE)}\n" if row.large else ""
    made = {COMPILE: f"#!/bin/sh\nset -eu\n{script}\n{more}".encode()}
    if row.language == "c":
        return {**made, "main.c": (HERE / "spin.c").read_bytes()}
    assert tc.interpreter is not None
    first = f"#!{interpreter_path(tc.interpreter)} -IS\n"
    return {**made, "main.py": first.encode() + (HERE / "spin.py").read_bytes()}


def write_bundle(root: Path, tc: Toolchain, cases: Sequence[GradedCase]) -> None:
    """The tests folder of a bundle, all cases held out and sealed."""
    policy = replace(
        launch.policy(),
        languages=(tc.language,),
        run_programs=tuple(tc.run_programs),
        compiled=tc.interpreter is None,
    )
    ids = tuple(case.case.id for case in cases)
    plan = Plan(reward="binary", threshold=0.0, slots=launch.SLOTS, timeout_seconds=600.0, public=(), held_out=ids)
    sealed = seal(encode_cases(cases), identity="spin@1", purpose=Purpose.HELD_OUT)
    tests = root / "tests"
    tests.mkdir(parents=True)
    files = {
        "verify.pyz": verify_pyz(),
        "policy.json": encode_policy(policy),
        "plan.json": encode_plan(plan),
        "public.jsonl": b"",
        "held_out.sealed": sealed.content,
        "seal.json": sealed.seal,
    }
    for name, content in files.items():
        (tests / name).write_bytes(content)


def changes(bench: Bench, runs: int) -> int:
    """Words that are not AC over whole gradings of a right submission, while other programs want every processor."""
    with launch.hogs():
        found = [bench.grade().details["cases"]["held_out"] for _ in range(runs)]
    return sum(word != CaseWord.AC for words in found for word in words.values())


def isolation(folder: Path, plan: launch.Plan, answer: Answer) -> None:
    """The rows of launch.py, over its own program."""
    place = folder / "launched"
    place.mkdir(mode=0o755)
    with contextlib.ExitStack() as stack:
        ready = launch.built(place)
        found = {name: stack.enter_context(launch.opened(way)) if ready else None for name, way in launch.WAYS.items()}
        known = {name: launcher for name, launcher in found.items() if launcher}
        for launcher in known.values():
            launch.prove(launcher, place)
        launch.measure(known, place, plan, answer)


if __name__ == "__main__":
    sys.exit(main())
