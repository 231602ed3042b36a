"""A refusal or a failure in the words of the client's protocol, so that real clients understand it."""

from __future__ import annotations

from typing import Any

from programsmith.gateway.failures import Answer
from programsmith.gateway.strict import written

FROM = "model gateway: "
MESSAGE = 2000


def body(protocol: str, answer: Answer, message: str) -> bytes:
    """The body of an error of that protocol."""
    return written(error(protocol, answer, FROM + message[:MESSAGE]))


def error(protocol: str, answer: Answer, message: str) -> dict[str, Any]:
    """The error as a value."""
    match protocol:
        case "gemini":
            return {"error": {"code": answer.status, "message": message, "status": answer.gemini}}
        case "chat" | "responses":
            kind = answer.openai
            return {"error": {"message": message, "type": kind, "param": None, "code": kind}}
        case _:
            return {"type": "error", "error": {"type": answer.anthropic, "message": message}}
