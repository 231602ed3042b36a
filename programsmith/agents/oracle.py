"""oracle: hands in the bundle's own solution, which is unsealed on our side. The positive control as an agent."""

from __future__ import annotations

import hashlib

from programsmith.agents.base import AgentResult, AgentTask, Made, Step
from programsmith.errors import InfraError, boundary
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.launcher import Mount
from programsmith.records.trial import Stop


class Oracle:
    """Puts the solution in place."""

    def version(self, made: Made) -> str:
        """The sealed solution's digest: no file that an agent sees changes with it. Raises InfraError."""
        sealed = made.bundle / "solution" / "solution.sealed"
        with boundary(InfraError, f"{sealed}: no solution to hand in", OSError):
            return hashlib.sha256(sealed.read_bytes()).hexdigest()

    def mounts(self, made: Made) -> tuple[Mount, ...]:  # noqa: ARG002 - every agent has the same form
        """Nothing: the sandbox never shows what is sealed."""
        return ()

    def run(self, task: AgentTask) -> AgentResult:
        """Lay the solution down as the submission. Raises InfraError."""
        files = task.solution()
        task.sandbox.put(files, SUBMISSION)
        return AgentResult(
            stop=Stop.DONE, steps=(Step(words=("lay", SUBMISSION), seen=b"%d files of the solution\n" % len(files)),)
        )
