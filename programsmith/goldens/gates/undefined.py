"""Cases whose output rests on behaviour that the language leaves undefined: a build that watches for it says so.

A build with sanitizers ends where it sees such behaviour, by an exit code of its own, or shows something else because
memory holds something else. Where it passed a limit it proves nothing: it takes several times the memory and the time.
"""

from __future__ import annotations

import re

from programsmith.goldens.capture import expected_of, unsound
from programsmith.goldens.variance import STILL, Allowance
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, Expected

UNDEFINED = "undefined_behaviour"
UNPROVEN = "unproven"  # not dropped, but counted
OUT_OF_ROOM = re.compile(
    rb"AddressSanitizer: (stack-overflow|hard rss limit exhausted|out-of-memory)"
    rb"|AddressSanitizer failed to allocate|ReserveShadowMemoryRange failed"
)


def undefined_reason(
    case: Case, expected: Expected, result: Result, allowed: Allowance, varies: frozenset[str] = STILL
) -> str | None:
    """`undefined_behaviour`, `unproven` where the watching build passed a limit, else None.

    `varies` are the streams in which launches as graded differed, as `allowed` lets them.
    """
    if result.limits_hit or not result.started or OUT_OF_ROOM.search(result.stderr):
        return UNPROVEN
    found = None if unsound(result) else allowed.differences(expected, expected_of(case, result))
    return None if found is not None and found <= varies else UNDEFINED
