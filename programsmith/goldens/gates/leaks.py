"""Cases whose expected side shows where or when it was captured."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping

from programsmith.goldens.capture import inputs_of, outputs_of
from programsmith.payload.verifier.model import Case, Expected

MINUTE = 60


def leak_reason(case: Case, expected: Expected, marks: Mapping[str, Iterable[bytes]]) -> str | None:
    """The first kind of `marks` (word to byte strings) that shows in the expected side and not in the inputs.

    A mark counts as a whole word: no letter, digit or underscore beside it.
    """
    shown, brought = outputs_of(expected), inputs_of(case)
    for word, values in marks.items():
        for value in values:
            if value in shown and value not in brought and _whole(value, shown):
                return f"leak_{word}"
    return None


def clock_reason(case: Case, expected: Expected, start: float, end: float) -> str | None:
    """`clock_unproven` where the expected side shows the capture's date or time, and the inputs do not.

    It stands in for turning the clock where that cannot be done.

    `start` and `end` are seconds since the epoch around all launches.
    """
    shown, brought = outputs_of(expected), inputs_of(case)
    hit = any(form in shown and form not in brought and _whole(form, shown) for form in _whole_forms(start, end))
    epochs = {str(int(t) // 1000).encode() for t in (start, end)}
    hit = hit or any(re.search(rb"(?<!\d)" + e + rb"\d{3}", shown) and e not in brought for e in epochs)
    return "clock_unproven" if hit else None


def _whole(value: bytes, text: bytes) -> bool:
    left = rb"(?<!\w)" if value[:1].isalnum() else b""
    right = rb"(?!\w)" if value[-1:].isalnum() else b""
    return re.search(left + re.escape(value) + right, text) is not None


def _whole_forms(start: float, end: float) -> set[bytes]:
    """Common ways to write the dates and minutes of the window."""
    dates = (
        "%Y",
        "%Y-%m-%d",
        "%Y%m%d",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d.%m.%Y",
        "%b %e",
        "%d %b",
        "%B %e",
        "%d %B",
        "%m/%d/%y",
    )
    times = ("%H:%M", "%I:%M")
    forms = {time.strftime(d, time.gmtime(t)) for d in dates for t in (start, end)}
    minutes = range(int(start) // MINUTE, int(end) // MINUTE + 1)
    forms |= {time.strftime(t, time.gmtime(m * MINUTE)) for t in times for m in minutes}
    seconds = {time.strftime("%H:%M", time.gmtime(m * MINUTE)) + f":{s:02}" for m in minutes for s in range(MINUTE)}
    return {f.encode() for f in forms | seconds}
