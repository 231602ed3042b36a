"""What an answer says of itself: the tokens that it took, whether it is whole, whether the model declined.

In: the answer's JSON, or one event of its stream after another. Out: Seen. Each protocol counts in its own way: the
input of OpenAI and Gemini holds what a cache gave, that of Anthropic does not; streams tell running totals. A count
that is no whole number from 0 up says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from programsmith.gateway.price import Tokens

MOST = 1 << 40
"""A count above it is none."""


@dataclass(slots=True)
class Seen:
    """What was seen of an answer so far. `fault` is the error that it broke off with."""

    declines: Collection[str]
    counts: dict[str, int] = field(default_factory=dict)
    whole: bool = False
    stopped: bool = False  # the model said that it is done; a stream of chat tells its tokens after that
    declined: bool = False
    fault: Mapping[str, Any] | None = None

    @property
    def tokens(self) -> Tokens | None:
        """Tokens of a whole answer; None while they are not told."""
        return Tokens(**self.counts) if self.whole and {"input", "output"} <= self.counts.keys() else None

    @property
    def taken(self) -> Tokens | None:
        """Tokens of the request alone, once they are told."""
        return Tokens(**{**self.counts, "output": 0}) if "input" in self.counts else None

    def note(self, **counts: int | None) -> None:
        """Take running totals."""
        self.counts |= {name: count for name, count in counts.items() if count is not None}

    def ended(self, word: Any) -> None:
        """Note why the model stopped."""
        self.declined = self.declined or (isinstance(word, str) and word in self.declines)


def anthropic(seen: Seen, event: Mapping[str, Any]) -> None:
    """A message, or an event of one."""
    kind = _word(event.get("type"))
    if kind == "error":
        seen.fault = _object(event.get("error"))
        return
    message = _object(event.get("message")) if kind == "message_start" else event
    usage = _object(message.get("usage"))
    written, told = _count(usage, "cache_creation_input_tokens"), _object(usage.get("cache_creation"))
    long = _count(told, "ephemeral_1h_input_tokens") or 0
    seen.note(
        input=_count(usage, "input_tokens"),
        cache_read=_count(usage, "cache_read_input_tokens"),
        cache_write=None if written is None else max(0, written - long),
        cache_write_long=None if written is None else min(long, written),
        output=_count(usage, "output_tokens"),
    )
    seen.ended(_object(event.get("delta")).get("stop_reason") or message.get("stop_reason"))
    seen.whole = seen.whole or kind in {"message", "message_stop"}


def chat(seen: Seen, event: Mapping[str, Any]) -> None:
    """A completion, or a chunk of one. A stream tells its usage in its last chunk."""
    if event.get("error"):
        seen.fault = _object(event["error"])
    for choice in _objects(event.get("choices")):
        seen.ended(choice.get("finish_reason"))
        seen.declined = seen.declined or any(_word(_object(choice.get(n)).get("refusal")) for n in ("message", "delta"))
        seen.stopped = seen.stopped or bool(choice.get("finish_reason"))
    usage = _object(event.get("usage"))
    if usage:
        details = _object(usage.get("prompt_tokens_details"))
        _split(seen, usage, "prompt_tokens", "completion_tokens", details)
        seen.whole = seen.stopped


def responses(seen: Seen, event: Mapping[str, Any]) -> None:
    """A response, or an event of one."""
    kind = _word(event.get("type"))
    if kind == "error":
        seen.fault = _object(event.get("error")) or event
        return
    answer = _object(event.get("response")) if kind else event
    parts = [part for item in _objects(answer.get("output")) for part in _objects(item.get("content"))]
    seen.declined = seen.declined or any(part.get("type") == "refusal" for part in parts)
    if answer.get("error"):
        seen.fault = _object(answer["error"])
    seen.ended(_object(answer.get("incomplete_details")).get("reason"))
    usage = _object(answer.get("usage"))
    if usage:
        _split(seen, usage, "input_tokens", "output_tokens", _object(usage.get("input_tokens_details")))
        seen.whole = _word(answer.get("status")) in {"completed", "incomplete", "failed"}


def gemini(seen: Seen, event: Mapping[str, Any]) -> None:
    """An answer, or a piece of one; each piece tells running totals."""
    if event.get("error"):
        seen.fault = _object(event["error"])
    blocked = _object(event.get("promptFeedback")).get("blockReason")
    seen.ended(blocked)
    seen.declined = seen.declined or bool(blocked)
    usage = _object(event.get("usageMetadata"))
    taken, cached = _count(usage, "promptTokenCount"), _count(usage, "cachedContentTokenCount") or 0
    tools = _count(usage, "toolUsePromptTokenCount") or 0
    if taken is not None:
        parts = [_count(usage, name) or 0 for name in ("candidatesTokenCount", "thoughtsTokenCount")]
        seen.note(input=max(0, taken - cached) + tools, cache_read=min(cached, taken), output=sum(parts))
    for candidate in _objects(event.get("candidates")):
        if candidate.get("finishReason"):
            seen.whole = True
            seen.ended(candidate["finishReason"])
    seen.whole = seen.whole or bool(blocked)


READERS: Mapping[str, Callable[[Seen, Mapping[str, Any]], None]] = {
    "anthropic": anthropic,
    "chat": chat,
    "responses": responses,
    "gemini": gemini,
}
"""How an answer is read, by protocol."""


def _split(seen: Seen, usage: Mapping[str, Any], put: str, got: str, details: Mapping[str, Any]) -> None:
    taken, cached = _count(usage, put), _count(details, "cached_tokens") or 0
    written = _count(details, "cache_write_tokens") or 0
    if taken is None:
        return
    cached = min(cached, taken)
    written = min(written, taken - cached)
    seen.note(input=taken - cached - written, cache_read=cached, cache_write=written, output=_count(usage, got))


def _count(found: Mapping[str, Any], name: str) -> int | None:
    value = found.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST else None


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
