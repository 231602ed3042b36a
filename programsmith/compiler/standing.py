"""How the tasks of a spec stand, without running any.

In: a compiled spec. Out: each turn with whether it would run and why; which specs a build would work on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from doit.dependency import Dependency
from doit.task import Task

from programsmith.compiler.compile import Compiler
from programsmith.compiler.paths import Project
from programsmith.compiler.state import Database
from programsmith.compiler.tasks import Attempt
from programsmith.compiler.turn import Subject
from programsmith.errors import InputError

UP_TO_DATE = "up-to-date"


def standings(compiler: Compiler, subject: Subject) -> Iterator[tuple[Attempt, bool]]:
    """Each turn that the records lead to, and whether it would run."""
    state = Dependency(Database, str(subject.folder.database))
    for turn in compiler.view(subject):
        attempt = Attempt(turn)
        asked = Task(turn.name, None, uptodate=attempt.checks())
        yield attempt, state.get_status(asked, {turn.name: asked}).status != UP_TO_DATE
    state.close()


def due(compiler: Compiler, project: Project, files: Sequence[Path]) -> list[str]:
    """Names of the specs in which a build would run something; a broken spec is none of them."""
    return [path.stem for path in files if _is_due(compiler, project, path)]


def _is_due(compiler: Compiler, project: Project, path: Path) -> bool:
    try:
        return any(would_run for _, would_run in standings(compiler, compiler.subject(project, path)))
    except InputError:
        return False
