"""command: a user's command line tries. sh runs it in /app.

INSTRUCTION holds the instruction's path, SEED the index, MODEL the model that the entry names.
In: a spec entry with `command`, and maybe `folder`, which is shown read-only at /opt/agent, and `usd`, the price.
"""

from __future__ import annotations

from dataclasses import replace

from programsmith.agents.base import OWN, AgentResult, AgentTask, Made
from programsmith.agents.folders import digest, folder_at
from programsmith.agents.start import start
from programsmith.payload.verifier.launcher import Mount


class Command:
    """Runs the entry's command line."""

    def version(self, made: Made) -> str:
        """The content of the folder that it is shown. Raises InputError."""
        folder = made.entry.get("folder")
        return digest(folder_at(made.project, folder)) if folder else "1"

    def mounts(self, made: Made) -> tuple[Mount, ...]:
        """Its folder, where it has one. Raises InputError."""
        folder = made.entry.get("folder")
        return (Mount(source=str(folder_at(made.project, folder)), target=OWN),) if folder else ()

    def run(self, task: AgentTask) -> AgentResult:
        """Start the command. It costs what its entry states, however it ends. Raises InfraError."""
        ended = start(task, ("/usr/bin/sh", "-c", task.entry["command"]))
        return replace(ended, usd=float(task.entry.get("usd") or 0.0))
