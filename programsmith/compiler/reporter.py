"""What doit's runner does in a pass, as events.

In: doit's reporter calls, from several threads. Out: one event per task that begins, answers or fails; tracebacks go to
the block's log.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from doit.exceptions import BaseFail
from doit.task import Task

from programsmith.compiler.events import Event, Kind, Tell
from programsmith.compiler.tasks import Attempt


class Told:
    """doit's reporter for one pass. `bugs` gathers the logs of faults that are ours."""

    desc = "events"

    def __init__(self, attempts: Mapping[str, Attempt], tell: Tell) -> None:
        self._attempts = attempts
        self._tell = tell
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
            self._event(Kind.ANSWERED, attempt, record.outcome.value, f"{record.seconds:7.1f} s  {record.reason}{why}")

    def add_failure(self, task: Task, fail: BaseFail) -> None:
        """A block could not answer."""
        attempt = self._attempts[task.name]
        self.failed.add(task.name)
        if attempt.fault is not None:
            self._event(Kind.FAILED, attempt, attempt.fault.kind, str(attempt.fault))
            return
        log = attempt.turn.log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(fail.get_msg())
        self.bugs.append(log)
        self._event(Kind.FAILED, attempt, "bug", f"an internal error; its traceback is in {log}")

    def execute_task(self, task: Task) -> None:
        """A block runs."""
        self._event(Kind.BEGUN, self._attempts[task.name], "", "")

    def _event(self, kind: Kind, attempt: Attempt, word: str, text: str) -> None:
        spec, _, task = attempt.turn.name.partition(":")
        self._tell(Event(kind=kind, spec=spec, task=task, word=word, text=text))

    def initialize(self, tasks: object, selected: object) -> None:
        """Nothing to say."""

    def get_status(self, task: Task) -> None:
        """Nothing to say."""

    def skip_uptodate(self, task: Task) -> None:
        """Nothing to say."""

    def skip_ignore(self, task: Task) -> None:
        """Nothing to say."""

    def complete_run(self) -> None:
        """Nothing to say."""
