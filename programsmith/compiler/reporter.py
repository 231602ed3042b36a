"""One plain line per block on stderr, as doit's runner goes through a pass.

In: doit's reporter calls. Out: `tally  ingest  pass  0.4 s  reason  [why it ran]`; tracebacks go to the block's log.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from doit.exceptions import BaseFail
from doit.task import Task

from programsmith.compiler.tasks import Attempt
from programsmith.errors import Exit, ProgramSmithError


class Lines:
    """doit's reporter for one pass. `bugs` gathers the logs of faults that are ours."""

    desc = "one line per block"

    def __init__(self, attempts: Mapping[str, Attempt], out: TextIO | None = None) -> None:
        self._attempts = attempts
        self._out = out or sys.stderr
        self.bugs: list[Path] = []
        self.ran: list[str] = []
        self.failed: set[str] = set()

    def add_success(self, task: Task) -> None:
        """A block answered."""
        attempt = self._attempts[task.name]
        record = attempt.record
        if record is not None:
            self.ran.append(task.name)
            why = f"  [{attempt.because}]" if attempt.because else ""
            self._line(attempt, record.outcome.value, f"{record.seconds:7.1f} s  {record.reason}{why}")

    def add_failure(self, task: Task, fail: BaseFail) -> None:
        """A block could not answer."""
        attempt = self._attempts[task.name]
        self.failed.add(task.name)
        if attempt.fault is not None:
            self._line(attempt, word_of(attempt.fault), str(attempt.fault))
            return
        log = attempt.turn.log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(fail.get_msg())
        self.bugs.append(log)
        self._line(attempt, "bug", f"an internal error; its traceback is in {log}")

    def _line(self, attempt: Attempt, word: str, rest: str) -> None:
        spec, _, block = attempt.turn.name.partition(":")
        self._out.write(f"{spec}  {block:<12}  {word:<8}  {rest}\n")
        self._out.flush()

    def initialize(self, tasks: object, selected: object) -> None:
        """Nothing to say."""

    def get_status(self, task: Task) -> None:
        """Nothing to say."""

    def execute_task(self, task: Task) -> None:
        """Nothing to say."""

    def skip_uptodate(self, task: Task) -> None:
        """Nothing to say."""

    def skip_ignore(self, task: Task) -> None:
        """Nothing to say."""

    def complete_run(self) -> None:
        """Nothing to say."""


def word_of(fault: ProgramSmithError) -> str:
    """What kind of error it is, in one word."""
    return "infra" if fault.exit is Exit.INFRA else "error"
