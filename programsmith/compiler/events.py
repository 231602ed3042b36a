"""What a build tells while it runs: events, as objects and as JSON lines.

In: what happens to the tasks of a spec. Out: one line per event for whoever shows it. A line that is no event is passed
over: the process that wrote it may have been killed in its midst.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum

from programsmith.errors import plain


class Kind(StrEnum):
    """What an event is about."""

    BEGUN = "begun"  # a task runs
    ANSWERED = "answered"  # a task has its record, for good
    FAILED = "failed"  # a task could not answer
    SAID = "said"  # a line about the spec
    ENDED = "ended"  # the spec's build is over


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event. `task` lacks the spec's name; `word` is a block's, a fault's or the spec's; `text` is for a person.

    `exit` is the spec's exit code, of an end alone.
    """

    kind: Kind
    spec: str
    task: str = ""
    word: str = ""
    text: str = ""
    exit: int = 0


Tell = Callable[[Event], None]


def dumps(event: Event) -> bytes:
    """The event as a line."""
    return json.dumps(asdict(event)).encode("ascii") + b"\n"


def loads(line: bytes) -> Event | None:
    """The event of a line, None where it is none."""
    try:
        value = json.loads(line)
        return Event(**{**value, "kind": Kind(value["kind"])})
    except (ValueError, TypeError, KeyError):
        return None


def line_of(event: Event) -> str:
    """The plain line of an event, empty where it has none."""
    match event.kind:
        case Kind.ANSWERED | Kind.FAILED:
            return plain(f"{event.spec}  {event.task:<12}  {event.word:<8}  {event.text}")
        case Kind.SAID:
            return plain(f"{event.spec}  {event.text}" if event.spec else event.text)
        case Kind.BEGUN | Kind.ENDED:
            return ""
