"""One program as an agent: started in the task's sandbox, and its end as a stop cause.

In: a task and words. Out: an AgentResult with one step. A limit explains a program that did not end well; a program
that ended with 0 is done, whatever it ran into on the way.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from programsmith.agents.base import APP, AgentResult, AgentTask, Step
from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.launcher import Result
from programsmith.records.trial import Stop


def start(task: AgentTask, words: Sequence[str]) -> AgentResult:
    """Run `words` in /app until the last of their processes is gone.

    Raises InfraError, and PrerequisiteError where the program could not be started: nothing of it ran then.
    """
    result = task.sandbox.run(tuple(os.fsencode(w) for w in words), cwd=APP, limits=task.limits)
    if result.start_error is not None:
        raise PrerequisiteError(
            f"agent: {words[0]} cannot be started ({os.strerror(result.start_error)}); "
            f"it must be executable, and its interpreter one that the sandbox shows"
        )
    return AgentResult(stop=stop_of(result), steps=(Step(words=tuple(words), seen=result.stdout + result.stderr),))


def stop_of(result: Result) -> Stop:
    """Why a program ended."""
    hits = result.limits_hit
    if hits & {"cpu", "output", "work"}:
        return Stop.LIMIT
    if "wall" in hits:
        return Stop.WALL
    if result.exit_code == 0:
        return Stop.DONE
    return Stop.LIMIT if hits else Stop.CRASHED
