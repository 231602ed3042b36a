"""scripted: a program of the project tries, with `--seed N` for trial N. It costs nothing, and repeats itself exactly.

In: a spec entry whose `script` names the program; its folder is shown read-only at /opt/agent. A `.py` is started by
python3, a `.sh` by sh, anything else by itself.
"""

from __future__ import annotations

from pathlib import Path

from programsmith.agents.base import OWN, AgentResult, AgentTask, Made
from programsmith.agents.folders import digest, file_at
from programsmith.agents.start import start
from programsmith.payload.verifier.launcher import Mount

STARTED_BY = {".py": ("/usr/bin/python3",), ".sh": ("/usr/bin/sh",)}


class Scripted:
    """Runs the entry's script."""

    def version(self, made: Made) -> str:
        """The script's name and its folder's content. Raises InputError."""
        script = file_at(made.project, made.entry["script"])
        return f"{script.name} {digest(script.parent)}"

    def mounts(self, made: Made) -> tuple[Mount, ...]:
        """The script's folder. Raises InputError."""
        return (Mount(source=str(file_at(made.project, made.entry["script"]).parent), target=OWN),)

    def run(self, task: AgentTask) -> AgentResult:
        """Start the script. Raises InfraError, PrerequisiteError."""
        script = Path(task.entry["script"])
        return start(task, (*STARTED_BY.get(script.suffix, ()), f"{OWN}/{script.name}", "--seed", str(task.seed)))
