"""codex: OpenAI's agent, by its event stream. It asks by Responses; searching the web is off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from programsmith.agents.base import AgentTask, Told
from programsmith.agents.bridge import PRIVATE, TREE
from programsmith.agents.harness import ADDRESS, KEY, Harness, Read, Start, asked, count, lines, table, text
from programsmith.errors import PrerequisiteError

SETTINGS = (
    'model_provider="gateway"',
    f'model_providers.gateway={{name="gateway",base_url="{ADDRESS}/v1",wire_api="responses",env_key="GATEWAY_KEY"}}',
    'web_search="disabled"',
    "analytics.enabled=false",
    "feedback.enabled=false",
    "check_for_update_on_startup=false",
    'history.persistence="none"',
)
SAID = {"agent_message": "text", "error": "message", "reasoning": "text"}
"""Kinds of items that are words, and the field that has them."""
SEEN = ("aggregated_output", "result", "changes", "error")
"""Fields that say what an item gave, the first that it has."""
PARTS = frozenset({"id", "type", "status", "exit_code", *SEEN})


class Codex(Harness):
    """Starts `codex exec`."""

    name = "codex"
    withheld = ("CODEX_*", "GATEWAY_*", "OPENAI_*")

    def start(self, tree: Path, task: AgentTask) -> Start:
        """Permissions are the sandbox's matter. Raises PrerequisiteError where the package has another form."""
        assert task.asks is not None
        program = next(tree.glob("vendor/*/bin/codex"), None)
        if program is None:
            raise PrerequisiteError(f"agent codex: {tree} has no vendor/*/bin/codex; install a version that has")
        words = (
            f"{TREE}/{program.relative_to(tree)}", "exec", "--json", "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox", "-m", task.asks.model,
            *(word for setting in SETTINGS for word in ("-c", setting)), "--", asked(task),
        )  # fmt: skip
        home = f"{PRIVATE}/codex"
        files = {"codex/config.toml": ""}
        return Start(words=words, environment={"GATEWAY_KEY": KEY, "CODEX_HOME": home}, files=files)

    def read(self, output: bytes, left: Mapping[bytes, bytes]) -> Read:  # noqa: ARG002 - every harness has the same form
        """Items as they are completed, and the sum of each turn."""
        found, taken, given = Read(), 0, 0
        for event in lines(output):
            match event.get("type"):
                case "item.completed":
                    _item(found, table(event.get("item")))
                case "turn.completed":
                    usage = table(event.get("usage"))
                    taken += count(usage.get("input_tokens"))
                    given += count(usage.get("output_tokens"))
                    found.told = Told(tokens_in=taken, tokens_out=given)
                case _:
                    pass
        return found


def _item(found: Read, item: Mapping[str, object]) -> None:
    """Words, or one use of a tool with what it gave."""
    kind, identity = text(item.get("type")), text(item.get("id"))
    if kind in SAID:
        words = text(item.get(SAID[kind]))
        found.said("", words) if kind == "reasoning" else found.said(words)
        return
    found.said("")
    found.use(kind, identity, {name: value for name, value in item.items() if name not in PARTS})
    found.saw(identity, next((text(item[name]) for name in SEEN if item.get(name) is not None), ""))
