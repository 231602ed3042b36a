"""A Harbor agent that hands in a folder of the host and runs a script of it as root, before it is gone."""

from pathlib import Path
from typing import override

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext


class HandedIn(BaseAgent):
    def __init__(self, *args, label: str, submission: str, script: str = "", **more):
        super().__init__(*args, **more)
        self._submission, self._script = Path(submission), script

    @staticmethod
    @override
    def name() -> str:
        return "handed-in"

    @override
    def version(self) -> str:
        return "1"

    @override
    async def setup(self, environment: BaseEnvironment) -> None:
        """Nothing is installed."""

    @override
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        await environment.upload_dir(self._submission, "/app/submission")
        if self._script:
            done = await environment.exec(self._script, user="root")
            (self.logs_dir / "script.txt").write_text(f"{done.return_code}\n{done.stdout}{done.stderr}")
