"""The verb `build`: specs in, verdicts out, incrementally.

In: `spec=…` words and the number of workers. Out: cache/<name>/ and dist/ brought up to date; one line per spec on
stdout (name, outcome, where); the exit code, computed from verdicts. Progress goes to stderr.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from doit import doit_cmd
from doit.cmd_base import Command

from programsmith.compiler.action import remove
from programsmith.compiler.compile import Compiler
from programsmith.compiler.faults import Caught, worst
from programsmith.compiler.loader import Asked, asked_specs, project_of
from programsmith.compiler.lock import check_premises, held
from programsmith.compiler.passes import outcome_of, run_pass, turns
from programsmith.compiler.paths import SHELVES
from programsmith.compiler.plan import Step
from programsmith.compiler.reporter import word_of
from programsmith.compiler.turn import Subject
from programsmith.errors import Exit, InputError
from programsmith.records.outcome import Record

DRAFT, SHIP = "draft", "ship"
REVISION = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a build of one spec came to. `ran` are the tasks that ran."""

    name: str
    outcome: str
    where: Path
    exit: Exit
    ran: tuple[str, ...]


def build(args: Sequence[str], start: Path, *, workers: int, compiler: Compiler | None = None) -> Exit:
    """Build the specs that `args` ask for, one after the other. Every error ends here, in a line and a code."""
    project = project_of(start)
    with _ended_by_signals(), Caught(project.logs if project else None) as caught:
        asked = asked_specs(args, start)
        if workers < 1:
            raise InputError(f"-n {workers}: wanted a number of workers from 1 up")
        check_premises(asked.project)
        codes = _build_all(compiler or Compiler(), asked, workers)
        return worst(codes)
    return caught.code or Exit.OK


def _build_all(compiler: Compiler, asked: Asked, workers: int) -> set[Exit]:
    codes: set[Exit] = set()
    for path in asked.files:
        with Caught(asked.project.folder(path.stem).root / "logs", path.stem) as caught:
            subject = compiler.subject(asked.project, path, workers)
            with held(subject.folder):
                answer = build_spec(compiler.steps, subject)
            print(f"{answer.name}  {answer.outcome}  {answer.where}", flush=True)
            codes.add(answer.exit)
        if caught.code is Exit.INTERRUPTED:
            _leave()
        codes |= {caught.code} if caught.code else set()
    return codes


def build_spec(steps: Sequence[Step], subject: Subject) -> Answer:
    """Pass after pass until none is left. The spec's lock is held by the caller."""
    try:
        return _passes(steps, subject)
    finally:
        shutil.rmtree(subject.folder.scratch, ignore_errors=True)


def _passes(steps: Sequence[Step], subject: Subject) -> Answer:
    settled: dict[str, Record] = {}
    ran: list[str] = []
    while due := turns(subject, steps, settled, REVISION):
        passed = run_pass(subject, due)
        ran += passed.ran
        if passed.faults or passed.bugs:
            worst_fault = max(passed.faults, key=lambda f: f.exit, default=None)
            code = worst_fault.exit if worst_fault else Exit.INFRA
            log = passed.bugs[0] if passed.bugs else due[0].log.parent
            word = word_of(worst_fault) if worst_fault else "bug"
            return Answer(name=subject.folder.name, outcome=word, where=log, exit=code, ran=tuple(ran))
        settled |= passed.records
    if not ran:
        print(f"{subject.folder.name}  nothing to do: {len(settled)} blocks are up to date", file=sys.stderr)
    return _answer(subject, tuple(ran))


def _answer(subject: Subject, ran: tuple[str, ...]) -> Answer:
    outcome = outcome_of(subject.folder.verdict)
    place = subject.folder.exported(outcome)
    _withdraw(subject, place)
    wants_rollouts = bool(subject.values.get("rollouts"))
    good = outcome == SHIP or (outcome == DRAFT and not wants_rollouts)
    where = place if place.is_dir() else subject.folder.verdict
    return Answer(name=subject.folder.name, outcome=outcome, where=where, exit=Exit.OK if good else Exit.ENDED, ran=ran)


def _withdraw(subject: Subject, place: Path) -> None:
    """Remove what earlier verdicts of the spec exported: a shelf holds what its name says."""
    for outcome in (SHIP, *SHELVES):
        other = subject.folder.exported(outcome)
        if other != place:
            remove(other)


def _leave() -> None:
    """End now: blocks that still run in threads end with the process, and so do their children."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(Exit.INTERRUPTED)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends a build as an interrupt does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def default_workers() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0))


class Build(Command):  # type: ignore[misc]
    """`doit build`, in a checkout and, as a plugin of doit, wherever the package is installed."""

    name = "build"
    doc_purpose = "build environments from task specs"
    doc_usage = "[spec=NAME_OR_FILE[,…]] [-n WORKERS]"
    doc_description = None
    cmd_options = (
        {
            "name": "workers",
            "short": "n",
            "long": "workers",
            "type": int,
            "default": 0,
            "help": "blocks and cases at a time [default: one per processor]",
        },
    )

    def execute(self, opt_values: Mapping[str, Any], pos_args: list[str]) -> int:
        """Build. The words `k=v` are what doit took out of the command line."""
        words = [f"{name}={value}" for name, value in (vars(doit_cmd)["_CMDLINE_VARS"] or {}).items()]
        return int(build([*words, *pos_args], Path.cwd(), workers=opt_values["workers"] or default_workers()))
