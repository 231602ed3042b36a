"""A provider that plays a conversation: one command after another by the client's own shell tool, then the end.

In: shell commands. Out: a provider like those of provider.py, whose turn follows from the request itself, so that calls
on the side (titles, topics, counts) use none up. Its answers have ids and texts of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.samples.provider import Asked, Provider, Turn

END = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""How mini-swe-agent says that it is done: by a command."""
SHELLS = {"Bash": "command", "exec_command": "cmd", "shell_command": "command", "run_shell_command": "command",
          "bash": "command"}  # fmt: skip
"""Tools that run a command line, and the argument that holds it."""


class Conversation(Provider):
    """`seen` are the outputs of the commands as the client told them."""

    def __init__(self, commands: Sequence[str], taken: int, given: int, watch: Callable[[], None]) -> None:
        super().__init__([])
        self.commands, self.taken, self.given, self.watch = tuple(commands), taken, given, watch
        self.tools: set[str] = set()

    def take(self, asked: Asked) -> Turn:
        with self.lock:
            self.asked.append(asked)
            self.watch()
        try:
            body = asked.json
        except ValueError:
            return Turn()
        names = _tools(body)
        shell = next((name for name in SHELLS if name in names), None)
        self.tools |= names
        done = len(results(body))
        more = (*self.commands, END) if shell == "bash" else self.commands
        if shell is None or done >= len(more):
            return Turn(text="all is done", taken=self.taken, given=self.given)
        arguments = {SHELLS[shell]: more[done]}
        return Turn(tool=shell, arguments=arguments, taken=self.taken, given=self.given, id=f"call_{done}")

    @property
    def seen(self) -> list[str]:
        """What the last request says of every command so far."""
        return max((results(asked.json) for asked in self.asked if asked.body), key=len, default=[])


@contextmanager
def conversation(
    *commands: str, taken: int = 1000, given: int = 50, watch: Callable[[], None] = lambda: None
) -> Iterator[Conversation]:
    """Run a provider that has these commands run, one per turn; `watch` is called at each request."""
    made = Conversation(commands, taken, given, watch)
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()


def _tools(body: Any) -> set[str]:
    """Names of the tools that a request offers, in whatever protocol."""
    found: set[str] = set()
    for tool in body.get("tools") or []:
        inner = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        found.add(str(inner.get("name")))
        found |= {str(one["name"]) for one in tool.get("functionDeclarations", [])}
    return found


def results(body: Any) -> list[str]:
    """What the tools gave so far, in whatever protocol."""
    items = body["input"] if isinstance(body.get("input"), list) else []
    found = [str(item["output"]) for item in items if str(item.get("type", "")).endswith("_output")]
    for message in body.get("messages") or []:
        if message["role"] == "tool":
            found.append(str(message["content"]))
        parts = message.get("content") if isinstance(message.get("content"), list) else []
        found += [str(part.get("content")) for part in parts if part.get("type") == "tool_result"]
    for content in body.get("contents") or []:
        found += [str(part["functionResponse"]) for part in content["parts"] if "functionResponse" in part]
    return found
