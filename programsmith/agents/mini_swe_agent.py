"""mini-swe-agent: a small open agent in Python, by the trajectory that it writes. Its only tool is a shell.

It is installed with an interpreter and the C library that this needs, so it runs beside any task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from programsmith.agents.base import AgentTask, Told
from programsmith.agents.bridge import PRIVATE, TREE
from programsmith.agents.harness import ADDRESS, KEY, Harness, Read, Start, asked, count, table, tables, text
from programsmith.agents.python_tree import interpreter

TRAJECTORY = "trajectory.json"
ROUTES = {"chat": ("openai", "/v1"), "anthropic": ("anthropic", "")}
"""By protocol, what LiteLLM calls it, and what it wants after the address."""
QUIET = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class MiniSweAgent(Harness):
    """Starts `mini`."""

    name = "mini-swe-agent"
    withheld = ("MSWEA_*", "LITELLM_*", "PYTHON*")

    def start(self, tree: Path, task: AgentTask) -> Start:
        """No question is asked; the gateway alone says what it may cost. Raises PrerequisiteError."""
        assert task.asks is not None
        route, below = ROUTES[task.asks.protocol]
        words = (
            *interpreter(tree, TREE), f"{TREE}/start.py", "-m", f"{route}/{task.asks.model}", "-t", asked(task),
            "-y", "--exit-immediately", "-l", "0", "-o", f"{PRIVATE}/{TRAJECTORY}",
            *(word for setting in (
                "mini.yaml", f"model.model_kwargs.api_base={ADDRESS}{below}", f"model.model_kwargs.api_key={KEY}",
            ) for word in ("-c", setting)),
        )  # fmt: skip
        return Start(words=words, environment={"MSWEA_GLOBAL_CONFIG_DIR": PRIVATE, **QUIET})

    def read(self, output: bytes, left: Mapping[bytes, bytes]) -> Read:  # noqa: ARG002 - every harness has the same form
        """Messages of the trajectory; each answer of the model says what it took."""
        found, taken, given = Read(), 0, 0
        try:
            whole = table(json.loads(left.get(TRAJECTORY.encode(), b"{}")))
        except (ValueError, RecursionError):
            return found
        for message in tables(whole.get("messages")):
            if message.get("role") == "assistant":
                found.said(text(message.get("content")))
                for call in tables(message.get("tool_calls")):
                    _use(found, call)
                usage = table(table(table(message.get("extra")).get("response")).get("usage"))
                taken, given = taken + count(usage.get("prompt_tokens")), given + count(usage.get("completion_tokens"))
            elif message.get("role") == "tool":
                found.saw(text(message.get("tool_call_id")), text(message.get("content")))
        found.told = Told(tokens_in=taken, tokens_out=given) if found.steps else None
        return found


def _use(found: Read, call: Mapping[str, object]) -> None:
    asked = table(call.get("function"))
    try:
        arguments = json.loads(text(asked.get("arguments")) or "{}")
    except (ValueError, RecursionError):
        arguments = {"arguments": text(asked.get("arguments"))}
    found.use(text(asked.get("name")), text(call.get("id")), arguments)
