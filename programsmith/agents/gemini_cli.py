"""gemini-cli: Google's agent, by its event stream, on the Node that is installed with it, without tools for the web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from programsmith.agents.base import AgentTask, Told
from programsmith.agents.bridge import PRIVATE, TREE
from programsmith.agents.harness import ADDRESS, KEY, Harness, Read, Start, asked, count, lines, table, text

SETTINGS = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "telemetry": {"enabled": False},
    "tools": {"exclude": ["google_web_search", "web_fetch"]},
}


class GeminiCli(Harness):
    """Starts `gemini -p`."""

    name = "gemini-cli"
    withheld = ("GEMINI_*", "GOOGLE_*")

    def start(self, tree: Path, task: AgentTask) -> Start:  # noqa: ARG002 - every harness has the same form
        """Permissions are the sandbox's matter."""
        assert task.asks is not None
        words = (
            f"{TREE}/node/bin/node", f"{TREE}/bundle/gemini.js", "--output-format", "stream-json",
            "--approval-mode", "yolo", "-m", task.asks.model, "-p", asked(task),
        )  # fmt: skip
        environment = {
            "GOOGLE_GEMINI_BASE_URL": ADDRESS,
            "GEMINI_API_KEY": KEY,
            "GEMINI_CLI_HOME": PRIVATE,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        return Start(words=words, environment=environment, files={".gemini/settings.json": json.dumps(SETTINGS)})

    def read(self, output: bytes, left: Mapping[bytes, bytes]) -> Read:  # noqa: ARG002 - every harness has the same form
        """Events: words of the model in pieces, tools, the sum at the end."""
        found, open_ = Read(), False
        for event in lines(output):
            kind = event.get("type")
            if kind == "message" and event.get("role") == "assistant":
                step = found.steps[-1] if open_ else found.said("")
                step.message += text(event.get("content"))
                open_ = True
            elif kind == "tool_use":
                if not open_:
                    found.said("")
                open_ = True
                found.use(text(event.get("tool_name")), text(event.get("tool_id")), event.get("parameters"))
            elif kind == "tool_result":
                open_ = False
                found.saw(text(event.get("tool_id")), text(event.get("output", event.get("error"))))
            elif kind == "result":
                stats = table(event.get("stats"))
                taken = count(stats.get("input_tokens"))
                found.told = Told(tokens_in=taken, tokens_out=max(0, count(stats.get("total_tokens")) - taken))
        return found
