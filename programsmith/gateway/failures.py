"""Failures of calls: which class an answer is of, when to try again, what a trial is that ended on one.

In: rules/failures.yaml, a provider's status, headers and error. Out: a class, seconds, a word. What a provider says in
its error decides only among classes; nothing else of it is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

NETWORK, BUDGET, REFUSAL = "network", "budget", "refusal"
ERROR_TEXT = 4096
"""Characters of an error that are looked at."""
WEEK = 7 * 86400.0
SERVER_FAULT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a client is told of a failure: the status, and the word of each family of protocols."""

    status: int
    anthropic: str
    openai: str
    gemini: str


class Failures:
    """The table."""

    def __init__(self, rule: Mapping[str, Any]) -> None:
        self._rule = rule
        self.declined: tuple[str, ...] = tuple(rule["declined"])

    def answer(self, told: str) -> Answer:
        """The row of `answers`."""
        return Answer(**self._rule["answers"][told])

    def again(self, name: str) -> bool:
        """Whether a call that failed so is tried again before its answer began."""
        return bool(self._rule["classes"][name]["again"])

    def named(self, status: int | None, error: Any) -> str:
        """The class of a provider's answer that is none. `error` is its JSON, or what there is of it.

        An error inside a stream has no status of its own: then only its text says.
        """
        text = error_text(error).lower()
        for sign in self._rule["signs"]:
            says = sign.get("says")
            said = any(piece in text for piece in says) if says is not None else status is not None
            if said and (status is None or status in sign["status"]):
                return str(sign["class"])
        return "overload" if status is None or status >= SERVER_FAULT else "invalid"

    def trial(self, last: str | None) -> str:
        """What a trial is whose last call ended with `last`: `infra`, `stop` or `own`."""
        name = BUDGET if last == "calls" else last
        row = self._rule["classes"].get(name)
        return str(row["trial"]) if row else "own"


def error_text(error: Any) -> str:
    """Type, code, status and message of an error, wherever the protocol puts them."""
    if isinstance(error, list):
        error = error[0] if error else None
    inner = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(inner, dict):
        parts = [inner.get(name) for name in ("type", "code", "status", "message")]
        return " ".join(str(part) for part in parts if part is not None)[:ERROR_TEXT]
    return inner[:ERROR_TEXT] if isinstance(inner, str) else ""


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds that a Retry-After asks for: a number, or a date against `now` in seconds since the epoch.

    None where it says nothing (RFC 9110, 10.2.3); never below 0, never above a week.
    """
    if value is None:
        return None
    text = value.strip()
    try:
        seconds = float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else _until(text, now)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), WEEK) if math.isfinite(seconds) else None


def retry_delay(error: Any) -> float | None:
    """Seconds that an error of Gemini's asks for, which says so in its details and not by a header."""
    error = error[0] if isinstance(error, list) and error else error
    inner = error.get("error") if isinstance(error, dict) else None
    details = inner.get("details") if isinstance(inner, dict) else None
    for detail in details if isinstance(details, list) else ():
        told = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(told, str) and told.endswith("s"):
            return retry_after(told[:-1] or "x", 0.0)
    return None


def _until(text: str, now: float) -> float:
    date = parsedate_to_datetime(text)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
