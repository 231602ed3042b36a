"""claude-code: Anthropic's agent, by its event stream. The web and other agents' machines are no tools of it here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from programsmith.agents.base import AgentTask, Told
from programsmith.agents.bridge import PRIVATE, TREE
from programsmith.agents.harness import (
    ADDRESS,
    KEY,
    Harness,
    Read,
    Start,
    asked,
    count,
    lines,
    table,
    tables,
    text,
)

WITHOUT = "WebSearch,WebFetch,ScheduleWakeup,Workflow"
QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
    "DISABLE_BUG_COMMAND",
    "IS_SANDBOX",
)
MODELS = ("ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL")
"""Which model stands for each size: a trial has one."""
TAKEN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class ClaudeCode(Harness):
    """Starts `claude -p`."""

    name = "claude-code"
    withheld = ("ANTHROPIC_*", "CLAUDE*", "DISABLE_*", "IS_SANDBOX", "ENABLE_TOOL_SEARCH")

    def start(self, tree: Path, task: AgentTask) -> Start:  # noqa: ARG002 - every harness has the same form
        """Permissions are the sandbox's matter; settings of the task's tree are not read."""
        assert task.asks is not None
        model = task.asks.model
        words = (
            f"{TREE}/claude", "-p", "--output-format", "stream-json", "--verbose", "--model", model,
            "--dangerously-skip-permissions", "--strict-mcp-config", "--setting-sources", "user",
            "--disallowedTools", WITHOUT, "--", asked(task),
        )  # fmt: skip
        environment = {
            "ANTHROPIC_BASE_URL": ADDRESS,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CONFIG_DIR": f"{PRIVATE}/claude",
            "ENABLE_TOOL_SEARCH": "false",
            **dict.fromkeys(QUIET, "1"),
            **dict.fromkeys(MODELS, model),
        }
        return Start(words=words, environment=environment)

    def read(self, output: bytes, left: Mapping[bytes, bytes]) -> Read:  # noqa: ARG002
        """Events: what the assistant said, what its tools gave, the sum at the end."""
        found, last = Read(), ""
        for event in lines(output):
            message = table(event.get("message"))
            match event.get("type"):
                case "assistant":
                    if text(message.get("id")) != last or not found.steps:
                        found.said("")
                    last = text(message.get("id"))
                    _said(found, message)
                case "user":
                    last = ""
                    for block in tables(message.get("content")):
                        if block.get("type") == "tool_result":
                            found.saw(text(block.get("tool_use_id")), _seen(block.get("content")))
                case "result":
                    usage = table(event.get("usage"))
                    found.told = Told(
                        tokens_in=sum(count(usage.get(name)) for name in TAKEN),
                        tokens_out=count(usage.get("output_tokens")),
                    )
                case _:
                    pass
        return found


def _said(found: Read, message: Mapping[str, object]) -> None:
    """Blocks of one message: text, thought, tool calls."""
    step = found.steps[-1]
    for block in tables(message.get("content")):
        match block.get("type"):
            case "text":
                step.message += text(block.get("text"))
            case "thinking":
                step.thought += text(block.get("thinking"))
            case "tool_use":
                found.use(text(block.get("name")), text(block.get("id")), block.get("input"))
            case _:
                pass


def _seen(content: object) -> str:
    """What a tool gave: text, or the text of blocks."""
    return "\n".join(text(b.get("text")) for b in tables(content)) if isinstance(content, list) else text(content)
