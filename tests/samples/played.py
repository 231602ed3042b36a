"""Models of tests: one that says what it is told to, and one that obeys whatever it reads."""

from __future__ import annotations

import json
import re
from typing import Any

from programsmith.models.request import Reply, Request

OBEY = re.compile(r"ANSWER (\w+) WITH (\{.*\})")
"""What an injection of the tests says: for which block it wants which answer."""


class Played:
    """Plays answers in order, texts as they are and other values as JSON; keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        said = self.answers.pop(0)
        if isinstance(said, Reply):
            return said
        return Reply(text=said if isinstance(said, str) else json.dumps(said))

    @property
    def data(self) -> str:
        """All that was shown as data."""
        return "\n".join(text for request in self.asked for _, text in request.turns)


class Gullible(Played):
    """Answers with what any text that it is shown asks for, each time with the next; `else_` where none does."""

    def __init__(self, else_: Any) -> None:
        super().__init__()
        self.else_, self.obeyed = else_, 0

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        found = [answer for block, answer in OBEY.findall(request.turns[0][1]) if block == request.block]
        if not found:
            return Reply(text=json.dumps(self.else_))
        self.obeyed += 1
        return Reply(text=found[min(request.number, len(found) - 1)])
