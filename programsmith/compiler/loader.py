"""Which specs a command means, and their tasks for doit's own verbs.

In: the words `spec=…` of a command line, the folder that it was given in. Out: spec files with their projects; Task
objects of the requested specs only. Refuses unknown words, names without a file, two specs of one name (InputError).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doit import doit_cmd
from doit.cmd_base import TaskLoader2
from doit.task import Task

from programsmith.compiler.compile import Compiler, standing_of
from programsmith.compiler.paths import Project
from programsmith.compiler.tasks import Attempt, shown
from programsmith.compiler.turn import Subject
from programsmith.errors import InputError

WORDS = ("spec",)
YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Asked:
    """The specs that were asked for, all of one project. `named`: each by name, not just every spec that there is."""

    project: Project
    files: tuple[Path, ...]
    named: bool


def asked_specs(args: Sequence[str], start: Path) -> Asked:
    """The specs that the words `k=v` ask for, all of the project where there is none. Raises InputError."""
    words = _words(args)
    if "spec" not in words:
        return _all(start)
    found = [_one(name, start) for name in words["spec"].split(",")]
    names: dict[str, Path] = {}
    for _, path in found:
        other = names.setdefault(path.stem, path)
        if other != path:
            raise InputError(f"{path} and {other} are two specs of one name; rename one")
    projects = {project.root for project, _ in found}
    if len(projects) > 1:
        raise InputError(f"spec={words['spec']}: wanted specs of one project, got {', '.join(map(str, projects))}")
    return Asked(found[0][0], tuple(names.values()), named=True)


def _words(args: Sequence[str]) -> dict[str, str]:
    words: dict[str, str] = {}
    for arg in args:
        name, equals, value = arg.partition("=")
        if not equals:
            raise InputError(f"{arg!r}: wanted words like spec=NAME; write spec={arg}")
        if name not in WORDS:
            near = difflib.get_close_matches(name, WORDS, n=1, cutoff=0.3)
            hint = f"did you mean {near[0]}={value}" if near else f"known: {', '.join(WORDS)}"
            raise InputError(f"{arg}: unknown word {name!r}; {hint}")
        words[name] = value
    return words


def project_of(start: Path) -> Project | None:
    """The nearest folder at or above `start` that holds specs/ or dodo.py."""
    for folder in (start, *start.parents):
        if (folder / "specs").is_dir() or (folder / "dodo.py").is_file():
            return Project(folder)
    return None


def _all(start: Path) -> Asked:
    project = project_of(start)
    if project is None:
        raise InputError(f"{start} lies in no project: wanted a folder with specs/ or dodo.py at or above it")
    return Asked(project, tuple(path for path in sorted(project.specs.glob("*.yaml")) if _has_name(path)), named=False)


def _has_name(path: Path) -> bool:
    """Whether a file is a spec of its own; one without a name is only extended by others."""
    return path.is_file() and any(line.startswith(b"name:") for line in path.read_bytes().splitlines())


def _one(asked: str, start: Path) -> tuple[Project, Path]:
    if not asked:
        raise InputError("spec=: wanted the name or the file of a spec, got nothing")
    path = Path(os.path.normpath(start / asked))
    if path.is_dir():
        raise InputError(f"spec={asked}: {path} is a folder; name a file in it")
    if path.is_file():
        return project_of(path.parent) or project_of(start) or Project(path.parent), path
    project = project_of(start)
    if project is not None and "/" not in asked:
        by_name = [project.specs / (asked.removesuffix(end) + end) for end in YAML]
        hit = next((p for p in by_name if p.is_file()), None)
        if hit:
            return project, hit
    raise InputError(f"spec={asked}: no such spec{_nearest(asked, project)}")


def _nearest(asked: str, project: Project | None) -> str:
    if project is None:
        return "; the current folder lies in no project (none with specs/ or dodo.py at or above it)"
    names = [path.stem for path in sorted(project.specs.glob("*.yaml"))]
    near = difflib.get_close_matches(Path(asked).stem, names, n=1, cutoff=0.5)
    if near:
        return f"; did you mean spec={near[0]}"
    return f"; {project.specs} holds {', '.join(names) or 'none'}"


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


def doit_words() -> list[str]:
    """The words `k=v` that doit took out of its command line: all of them, where `get_var` gives but known ones."""
    return [f"{name}={value}" for name, value in (vars(doit_cmd)["_CMDLINE_VARS"] or {}).items()]


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
    for turn in compiler.view(subject):
        after = sorted({writers[name] for name in turn.step.reads if name in writers})
        made.append(shown(Attempt(turn), after))
        writers |= dict.fromkeys(turn.step.writes, turn.name)
    standing = f"{path.name}: {standing_of(subject)}"
    group = Task(subject.folder.name, None, has_subtask=True, task_dep=[task.name for task in made], doc=standing)
    return [*made, group]
