"""Events of a stream (text/event-stream), one by one.

In: pieces of bytes as they come. Out: each event's own bytes, with its data as JSON where it is some. An event may be
cut anywhere between pieces. Raises StreamError where one is longer than allowed, or all together are.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
LINE = re.compile(rb"\r\n|\n|\r")


class StreamError(Exception):
    """A stream that is no stream of events of ours."""


async def events(pieces: AsyncIterator[bytes], event_most: int, most: int) -> AsyncIterator[tuple[bytes, Any]]:
    """Each event with its data; what follows the last is one too."""
    buffer, total, looked = bytearray(), 0, 0
    async for piece in pieces:
        total += len(piece)
        if total > most:
            raise StreamError(f"more than {most} bytes")
        buffer += piece
        while found := END.search(buffer, looked):
            event = bytes(buffer[: found.end()])
            del buffer[: found.end()]
            looked = 0
            yield event, told(event)
        looked = max(0, len(buffer) - 3)
        if len(buffer) > event_most:
            raise StreamError(f"an event of more than {event_most} bytes")
    if buffer:
        yield bytes(buffer), told(bytes(buffer))


def told(event: bytes) -> Any:
    """The JSON that an event carries; None where it carries none."""
    lines = [line[5:].removeprefix(b" ") for line in LINE.split(event) if line.startswith(b"data:")]
    try:
        return json.loads(b"\n".join(lines)) if lines else None
    except (ValueError, RecursionError):
        return None
