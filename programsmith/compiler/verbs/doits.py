"""The verbs that show and forget: `list`, `info`, `clean`, `forget`, by doit's own commands over the compiled specs.

In: specs, task names, doit's flags. Out: doit's text or one JSON object on stdout. Refuses a task that no spec has and
a spec that is being built (for the verbs that remove).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from doit.doit_cmd import DoitMain

from programsmith.compiler.compile import Compiler, standing_of
from programsmith.compiler.loader import Asked, Specs, spec_tasks
from programsmith.compiler.lock import held
from programsmith.compiler.passes import outcome_of
from programsmith.compiler.standing import standings
from programsmith.compiler.turn import Subject
from programsmith.errors import Exit, InputError
from programsmith.rulebook.fault import suggest

VERSION = 1  # of the JSON form
REMOVING = ("clean", "forget")
WOULD_RUN = "would_run"
DONE = (None, 0, 1)  # some of doit's verbs return nothing; its `info` says 1 where a task would run


def doit_verb(verb: str, flags: Sequence[str], names: Sequence[str], asked: Asked, compiler: Compiler) -> Exit:
    """Run one of doit's verbs over the specs. Raises InputError for an unknown task, InfraError for a running build."""
    _check_names(names, [task.name for task in spec_tasks(compiler, asked)])
    with ExitStack() as locks:
        if verb in REMOVING:
            for path in asked.files:
                locks.enter_context(held(asked.project.folder(path.stem)))
        code = DoitMain(Specs(compiler, asked), config_filenames=()).run([verb, *flags, *names])
    return Exit.OK if code in DONE else Exit.USAGE


def _check_names(names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise InputError(f"{name}: wanted a task, got no such one; {suggest(name, known, 'the tasks are')}")


def as_json(name: str | None, asked: Asked, compiler: Compiler) -> str:
    """All specs with their tasks, or the task `name` with its record, as one JSON object."""
    specs = [_spec(path, asked, compiler) for path in asked.files]
    if name is None:
        return json.dumps({"version": VERSION, "specs": specs}, indent=1)
    tasks = [task for spec in specs for task in spec["tasks"]]
    _check_names([name], [task["task"] for task in tasks])
    return json.dumps({"version": VERSION, **next(task for task in tasks if task["task"] == name)}, indent=1)


def _spec(path: Path, asked: Asked, compiler: Compiler) -> dict[str, Any]:
    try:
        subject = compiler.subject(asked.project, path)
        tasks = list(_tasks(subject, compiler))
    except InputError as fault:
        if asked.named:
            raise
        return {"name": path.stem, "error": str(fault), "outcome": None, "current": False, "where": None, "tasks": []}
    stale = any(task["status"] == WOULD_RUN for task in tasks)
    place = subject.folder.exported(outcome_of(subject.folder.verdict))
    return {
        "name": subject.folder.name,
        "error": None,
        "outcome": standing_of(subject, stale=False),
        "current": bool(outcome_of(subject.folder.verdict)) and not stale,
        "where": str(place) if place.is_dir() else None,
        "tasks": tasks,
    }


def _tasks(subject: Subject, compiler: Compiler) -> Iterator[dict[str, Any]]:
    for attempt, would_run in standings(compiler, subject):
        turn = attempt.turn
        yield {
            "task": turn.name,
            "status": WOULD_RUN if would_run else "up_to_date",
            "because": attempt.because,
            "reads": list(turn.reads),
            "writes": list(turn.step.writes),
            "says": [word.value for word in turn.step.says],
            "record": None if would_run else json.loads(turn.record.read_bytes()),
        }
