"""How the tasks of a spec stand, without running any.

In: a compiled spec. Out: each turn with whether it would run and why.
"""

from __future__ import annotations

from collections.abc import Generator

from doit.dependency import Dependency
from doit.task import Task

from programsmith.compiler.compile import Compiler
from programsmith.compiler.state import Database
from programsmith.compiler.tasks import Attempt
from programsmith.compiler.turn import Subject

UP_TO_DATE = "up-to-date"


def standings(compiler: Compiler, subject: Subject) -> Generator[tuple[Attempt, bool], None, None]:
    """Each turn that the records lead to, and whether it would run."""
    state = Dependency(Database, str(subject.folder.database))
    try:
        for turn in compiler.view(subject):
            attempt = Attempt(turn)
            asked = Task(turn.name, None, uptodate=attempt.checks())
            yield attempt, state.get_status(asked, {turn.name: asked}).status != UP_TO_DATE
    finally:
        state.close()
