"""nop: an agent that hands in nothing. Whatever scores with it is no task."""

from __future__ import annotations

from programsmith.agents.base import AgentResult, AgentTask, Made
from programsmith.payload.verifier.launcher import Mount
from programsmith.records.trial import Stop


class Nop:
    """Does nothing."""

    def version(self, made: Made) -> str:  # noqa: ARG002 - every agent has the same form
        """Always the same."""
        return "1"

    def mounts(self, made: Made) -> tuple[Mount, ...]:  # noqa: ARG002 - every agent has the same form
        """Nothing."""
        return ()

    def run(self, task: AgentTask) -> AgentResult:  # noqa: ARG002 - every agent has the same form
        """Be done."""
        return AgentResult(stop=Stop.DONE)
