"""Which specs a command means, and their tasks for doit's own verbs.

In: the words `spec=…` of a command line, the folder that it was given in. Out: spec files with their project; Task
objects of the requested specs only. Refuses unknown words and what the search for specs refuses (InputError).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doit.cmd_base import TaskLoader2
from doit.task import Task

from programsmith.compiler.compile import Compiler, standing_of
from programsmith.compiler.paths import Project
from programsmith.compiler.standing import standings
from programsmith.compiler.tasks import shown
from programsmith.compiler.turn import Subject
from programsmith.errors import InputError
from programsmith.rulebook.fault import suggest
from programsmith.spec.find import find_project, find_specs

WORDS = ("spec", "approve")


@dataclass(frozen=True, slots=True)
class Asked:
    """The specs that were asked for, all of one project. `named`: each by name, not just every spec that there is.

    `approved` are blocks whose proposal a person accepts, `base` is the commit that somebody compares with.
    """

    project: Project
    files: tuple[Path, ...]
    named: bool
    approved: tuple[str, ...] = ()
    base: str | None = None


def asked_specs(args: Sequence[str], start: Path, known: Sequence[str] = WORDS) -> Asked:
    """The specs that the words `k=v` ask for, all of the project where there is none. Raises InputError.

    The project is that of the folder `start`, or of a spec's file that is asked for from elsewhere.
    """
    words = _words(args, known)
    word = words.get("spec")
    approved = tuple(words["approve"].split(",")) if "approve" in words else ()
    if approved and word is None:
        raise InputError(f"approve={words['approve']}: wanted spec=NAME beside it, got none")
    file = Path(os.path.normpath(start / word)) if word else start
    root = find_project(file.parent if file.is_file() else start)
    files = tuple(find_specs(root, word, start))
    return Asked(Project(root), files, named=word is not None, approved=approved, base=words.get("base"))


def _words(args: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    words: dict[str, str] = {}
    for arg in args:
        name, equals, value = arg.partition("=")
        if not equals:
            raise InputError(f"{arg!r}: wanted words like spec=NAME; write spec={arg}")
        if name not in known:
            raise InputError(f"{arg}: wanted a known word, got {name!r}; {suggest(name, known, 'the words are')}")
        if name in words:
            raise InputError(f"{arg}: wanted each word once, got a second {name}=; several are {name}=NAME,NAME")
        words[name] = value
    return words


class Specs(TaskLoader2):  # type: ignore[misc]
    """doit's loader over compiled specs: a group per spec, `tally`, and its tasks, `tally:ingest`, `tally:r0:create`.

    They tell doit's verbs how things stand; only `build` runs a block, for a plain run knows no pass.
    """

    def __init__(self, compiler: Compiler, asked: Asked) -> None:
        super().__init__()
        self._compiler = compiler
        self._asked = asked

    def load_doit_config(self) -> dict[str, Any]:
        """Settings with which doit finds the state of the specs."""
        return doit_config(self._asked)

    def load_tasks(self, cmd: object, pos_args: Sequence[str]) -> list[Task]:
        """Tasks of the requested specs."""
        del cmd, pos_args
        return list(spec_tasks(self._compiler, self._asked))


def doit_config(asked: Asked) -> dict[str, Any]:
    """Settings for doit with which its own verbs find the state of the specs and take them all by default."""
    return {
        "backend": "programsmith",
        "dep_file": str(asked.project.cache),
        "verbosity": 0,
        "default_tasks": [path.stem for path in asked.files],
    }


def spec_tasks(compiler: Compiler, asked: Asked) -> Iterator[Task]:
    """For each spec its tasks, and the group that they are in. Raises InputError for a broken spec asked for by name.

    A broken spec among all is a group whose description is the error: it hides no other.
    """
    for path in asked.files:
        try:
            yield from _spec_tasks(compiler, compiler.subject(asked.project, path), path)
        except InputError as fault:
            if asked.named:
                raise
            yield Task(path.stem, None, doc=f"error: {fault}")


def _spec_tasks(compiler: Compiler, subject: Subject, path: Path) -> list[Task]:
    made: list[Task] = []
    writers: dict[str, str] = {}
    stale = False
    for attempt, would_run in standings(compiler, subject):
        turn, stale = attempt.turn, stale or would_run
        after = sorted({writers[name] for name in turn.step.reads if name in writers})
        made.append(shown(attempt, after))
        writers |= dict.fromkeys(turn.step.writes, turn.name)
    standing = f"{path.name}: {standing_of(subject, stale=stale)}"
    group = Task(subject.folder.name, None, has_subtask=True, task_dep=[task.name for task in made], doc=standing)
    return [*made, group]
