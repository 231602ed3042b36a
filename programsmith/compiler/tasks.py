"""A turn as a doit task: when it is up to date, and what it does.

In: turns. Out: doit Task objects. A task is up to date when its slice is the one that it was run on and its record and
artifacts hold the bytes that the run published. Its inputs are part of its slice and no `file_dep` of doit's, which
would bind the state to absolute paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from doit.exceptions import TaskFailed
from doit.task import Task

from programsmith.bundle.dataset import forms
from programsmith.compiler.action import act, remove
from programsmith.compiler.signature import Signature, sign, unchanged
from programsmith.compiler.slices import changes
from programsmith.compiler.turn import Turn
from programsmith.errors import ProgramSmithError
from programsmith.records.outcome import Record

RECORD = "record"


class Attempt:
    """One turn under doit: why it runs, what it left, what fault it met. Raises InputError on a broken rule file."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.because = ""
        self.record: Record | None = None
        self.fault: ProgramSmithError | None = None
        self.slice = turn.slice()

    def checks(self) -> list[UpToDate]:
        """What doit asks to know whether the task is up to date."""
        return [UpToDate(self, self.slice_same), UpToDate(self, self.targets_intact)]

    def slice_same(self, values: Mapping[str, Any]) -> bool:
        """Whether the task last ran on this very slice."""
        known = values.get("slice")
        if not isinstance(known, dict):
            self.because = "never built"
            return False
        differing = changes(known, self.slice)
        if differing:
            self.because = f"{', '.join(differing[:3])} changed"
        return not differing

    def targets_intact(self, values: Mapping[str, Any]) -> bool:
        """Whether everything that the task published is there with the same content."""
        altered = self.altered(values)
        if altered:
            self.because = self.because or f"{', '.join(path.name for path in altered[:3])} altered"
        return altered == []

    def altered(self, values: Mapping[str, Any]) -> list[Path] | None:
        """What is not as the task published it, by what doit remembers of it; None where it remembers nothing."""
        known = values.get("targets")
        if not isinstance(known, dict) or RECORD not in known:
            return None
        return [path for name, path in self.targets().items() if not _holds(path, known.get(name))]

    def act(self) -> TaskFailed | None:
        """Run the block: the task's action."""
        try:
            done = act(self.turn, self.slice)
            self.record = done.record
            self.because += "; from the store" if done.restored else ""
        except ProgramSmithError as fault:
            self.fault = fault
            return TaskFailed(str(fault))
        return None

    def kept(self) -> dict[str, Any]:
        """What doit remembers of a success."""
        found = {name: sign(path) for name, path in self.targets().items()}
        targets = {n: [s.seen, s.content] for n, s in found.items() if s}
        return {"slice": self.slice, "targets": targets, "because": self.because}

    def targets(self) -> dict[str, Path]:
        """Artifact to path of all that the turn publishes, its record among them."""
        return {RECORD: self.turn.record, **self.turn.outputs}


class UpToDate:
    """One check as doit calls it; it shows itself as the reason why it failed."""

    def __init__(self, attempt: Attempt, holds: Callable[[Mapping[str, Any]], bool]) -> None:
        self._attempt = attempt
        self._holds = holds

    def __call__(self, task: Task, values: Mapping[str, Any]) -> bool:
        """Whether the check holds for what doit remembers of the task."""
        del task
        return self._holds(values)

    def __repr__(self) -> str:
        return self._attempt.because


def _holds(path: Path, known: list[str] | None) -> bool:
    """Whether `path` is as the run left it, which may be absent."""
    return not os.path.lexists(path) if known is None else unchanged(path, Signature(*known))


def task(attempt: Attempt) -> Task:
    """The doit task of an attempt."""
    made = Task(attempt.turn.name, [attempt.act], io={"capture": False}, verbosity=0, **_facts(attempt))
    made.value_savers.append(attempt.kept)
    return made


class Shown(Task):  # type: ignore[misc]
    """A task for doit's own verbs, which says what it removes."""

    attempt: Attempt

    def clean(self, outstream: TextIO, dryrun: bool) -> None:  # noqa: FBT001 - as doit calls it
        """Remove what the task published, or only say what that is."""
        place = self.attempt.turn.exported
        there = [path for path in self.attempt.targets().values() if os.path.lexists(path)]
        there += forms(self.attempt.turn.subject.folder.project.dist, place) if place else []
        for path in () if dryrun else there:
            remove(path)
        if there:
            root = self.attempt.turn.subject.folder.project.root
            names = ", ".join(str(path.relative_to(root)) for path in there)
            outstream.write(f"{self.name}  {'would remove' if dryrun else 'removed'} {names}\n")


def shown(attempt: Attempt, after: list[str]) -> Task:
    """The same task for doit's own verbs: it tells how things stand and cleans, but runs no block."""
    turn = attempt.turn
    spec = turn.subject.folder.name

    def refuse() -> TaskFailed:
        return TaskFailed(f"{turn.name} runs in a pass of its spec: doit build spec={spec}")

    meta = {"reads": list(turn.reads), "causes": sorted(turn.slice())}
    made = Shown(turn.name, [refuse], task_dep=after, subtask_of=spec, meta=meta, **_facts(attempt))
    made.attempt = attempt
    return made


def _facts(attempt: Attempt) -> dict[str, Any]:
    """What both kinds of task say of the turn."""
    return {
        "targets": [str(path) for path in attempt.targets().values() if path.exists()],
        "uptodate": attempt.checks(),
        "doc": f"says {', '.join(word.value for word in attempt.turn.step.says)}",
    }
