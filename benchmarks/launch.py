"""What isolating a case costs, beside the same program started bare; and whether verdicts hold on a busy machine.

`python benchmarks/launch.py [--quick] [--json]`. In: nothing. Out: what bars.py prints; exit code 1 where a bar is
missed. Before anything is timed, every launcher must prove its isolation and give the program's own answer. A launcher
that this host cannot have is `missing`. --quick takes fewer rounds and cases.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

from bars import MISSING, Answer, Run, idle_cores, median, ratio

from programsmith import __version__
from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.cases import Bench, Subject, run_cases
from programsmith.payload.verifier.environment import EXECUTABLE, SUBMISSION, case_env
from programsmith.payload.verifier.launcher import Launcher, Mount, Request
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.payload.verifier.model import Case, Expected, GradedCase
from programsmith.payload.verifier.plan import BuildRule, CaseRule, Policy, ReceiptRule
from programsmith.payload.verifier.words import CaseWord
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.config import launcher_config
from programsmith.sandboxes.view import list_view

WAYS = {"compiled": "compiled", "bwrap": "c"}
"""Launcher by its name in the bars, and how launcher_config calls it."""
PROGRAMS = {"noop": 0, "five_ms": 5}
"""Milliseconds of processor time."""
HOG = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"  # ends with whoever started it
SLOTS, HOGS = 2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Rounds of single launches; cases of the batch, and rounds of it; cases and runs of the stability row."""

    rounds: int
    batch: int
    batches: int
    stable: int
    runs: int


QUICK = Plan(rounds=60, batch=100, batches=3, stable=60, runs=3)
WHOLE = Plan(rounds=300, batch=300, batches=5, stable=300, runs=10)


def main() -> int:
    """Build the program, prove the launchers, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds and cases, at most 40 seconds")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    answer = Answer("launch", quick=options.quick, versions={"programsmith": __version__})
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="programsmith-launch.")))
        folder.chmod(0o755)
        ready = built(folder)
        found = {name: stack.enter_context(opened(way)) if ready else None for name, way in WAYS.items()}
        known = {name: launcher for name, launcher in found.items() if launcher}
        for launcher in known.values():
            prove(launcher, folder)
        before = idle_cores()
        measure(known, folder, QUICK if options.quick else WHOLE, answer)
        answer.idle = min(before, idle_cores())
    return answer.end(as_json=options.json)


def built(folder: Path) -> bool:
    """Compile the program as the executable of a submission; False without a C compiler."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return False
    source = Path(__file__).with_name("spin.c")
    subprocess.run([compiler, "-O2", "-o", folder / EXECUTABLE, source], check=True)
    return True


@contextlib.contextmanager
def opened(way: str) -> Iterator[Launcher | None]:
    """A launcher, None where this host cannot have it."""
    try:
        launcher = bubblewrap(launcher_config(list_view(programs=["cat"]), way))
    except PrerequisiteError:
        yield None
        return
    with contextlib.closing(launcher):
        yield launcher


def request(folder: Path, milliseconds: int) -> Request:
    """The launch of one case, with the limits that grading has."""
    bench = Bench(subject(folder), policy(), None, frozenset())  # type: ignore[arg-type]
    return bench.request(graded(milliseconds))


def subject(folder: Path) -> Subject:
    """The program as a submission's."""
    return Subject(program=f"{SUBMISSION}/{EXECUTABLE}", mounts=(Mount(source=str(folder), target=SUBMISSION),))


def policy() -> Policy:
    """The policy of a C task, its limits those of the rules."""
    rules = Rulebook(None).load("limits")
    case, build, receipt = (
        kind(**{field.name: rules[name][field.name] for field in fields(kind)})  # type: ignore[arg-type]
        for kind, name in ((CaseRule, "case"), (BuildRule, "build"), (ReceiptRule, "submission"))
    )
    return Policy(
        tool="spin",
        languages=("c",),
        refused_suffixes=(),
        build_programs=(),
        run_programs=(),
        cpu_factor=1.0,
        case=case,  # type: ignore[arg-type]
        build=build,  # type: ignore[arg-type]
        submission=receipt,  # type: ignore[arg-type]
    )


def graded(milliseconds: int, number: int = 0) -> GradedCase:
    """A case and what the program says to it; `number` tells equal cases apart."""
    case = Case(argv=(b"%d" % milliseconds, b"%d" % number))
    expected = Expected(exit_code=0, stdout=b"%d\n" % milliseconds)
    return GradedCase(case=case, expected=expected, family="spin", cpu_seconds=milliseconds / 1000)


def prove(launcher: Launcher, folder: Path) -> None:
    """The launcher isolates, and the program answers under it. Raises LauncherError, RuntimeError."""
    launcher.probe()
    for milliseconds in PROGRAMS.values():
        got = launcher.run(request(folder, milliseconds))
        if (got.fault, got.exit_code, got.stdout) != (None, 0, b"%d\n" % milliseconds):
            raise RuntimeError(f"{launcher.name}: wanted {milliseconds} and exit 0, got {got}")


def measure(found: Mapping[str, Launcher], folder: Path, plan: Plan, answer: Answer) -> None:
    """Fill in figures and ratios."""
    for program, milliseconds in PROGRAMS.items():
        single(found, folder, program, milliseconds, plan.rounds, answer)
    compiled = found.get("compiled")
    if compiled is None:
        answer.ratios |= {"batch_vs_loop": MISSING}
        answer.figures |= {"changes_under_hogs": MISSING}
        return
    answer.ratios["batch_vs_loop"] = batch(compiled, folder, plan, answer)
    answer.figures["changes_under_hogs"] = changes(compiled, folder, plan)
    answer.figures["cases_under_hogs"] = plan.stable * plan.runs


def single(
    found: Mapping[str, Launcher], folder: Path, program: str, milliseconds: int, rounds: int, answer: Answer
) -> None:
    """One launch at a time, all ways in every round."""
    ways: dict[str, Callable[[], object]] = {"bare": lambda: bare(folder, milliseconds)}
    asked = request(folder, milliseconds)
    ways |= {name: lambda launcher=launcher: launcher.run(asked) for name, launcher in found.items()}  # type: ignore[misc]
    runs: dict[str, list[Run]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, launch in ways.items():
            runs[name].append(timed(launch))
    for name, each in runs.items():
        answer.figures[f"{program}_{name}_ms"] = round(median(each).wall, 2)
    for name in WAYS:
        answer.ratios[f"{program}_{name}"] = ratio(runs[name], runs["bare"]) if name in runs else MISSING


def timed(launch: Callable[[], object]) -> Run:
    """One launch by the clock; what it takes of a processor is spread over servers that outlive it."""
    started = time.perf_counter()
    launch()
    return Run((time.perf_counter() - started) * 1000, 0.0)


def bare(folder: Path, milliseconds: int) -> None:
    """The same program, started as any Python program would."""
    words = [str(folder / EXECUTABLE), str(milliseconds), "0"]
    subprocess.run(words, input=b"", capture_output=True, check=True, env=dict(case_env()))  # type: ignore[arg-type]


def batch(launcher: Launcher, folder: Path, plan: Plan, answer: Answer) -> float:
    """Isolated cases in two slots over a bare loop, one after the other."""
    milliseconds, asked = PROGRAMS["five_ms"], request(folder, PROGRAMS["five_ms"])
    loops, slots = [], []
    with ThreadPoolExecutor(SLOTS) as pool:
        for _ in range(plan.batches):
            loops.append(timed(lambda: [bare(folder, milliseconds) for _ in range(plan.batch)]))
            slots.append(timed(lambda: list(pool.map(launcher.run, [asked] * plan.batch))))
    answer.figures |= {"batch": plan.batch, "batch_loop_ms": round(median(loops).wall)}
    answer.figures["batch_compiled_ms"] = round(median(slots).wall)
    return ratio(slots, loops)


def as_usual() -> None:
    """Run as any program, however urgent the benchmark itself is: hogs that are urgent too stop the machine."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@contextlib.contextmanager
def hogs() -> Iterator[None]:
    """Other programs that want every processor."""
    started = [subprocess.Popen([sys.executable, "-c", HOG], preexec_fn=as_usual) for _ in range(HOGS)]  # noqa: PLW1509
    try:
        yield
    finally:
        for hog in started:
            hog.kill()
            hog.wait()


def changes(launcher: Launcher, folder: Path, plan: Plan) -> int:
    """Verdicts on a right program that are not AC, over all runs, while other programs want every processor."""
    cases = [graded(PROGRAMS["five_ms"], number) for number in range(plan.stable)]
    with hogs():
        runs = [run_cases(cases, subject(folder), policy(), launcher, slots=SLOTS) for _ in range(plan.runs)]
    return sum(ran.word is not CaseWord.AC for run in runs for ran in run.values())


if __name__ == "__main__":
    sys.exit(main())
