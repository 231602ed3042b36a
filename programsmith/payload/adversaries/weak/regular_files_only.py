"""Whatever lies in a submission is opened like a file."""

from __future__ import annotations

import os
from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.payload.verifier.tree import TreeReading


def _opening(former: Callable[[str, ReceiptRule], TreeReading], submission: str, rule: ReceiptRule) -> TreeReading:
    reading = former(submission, rule)
    for path, _ in reading.left_out:
        os.close(os.open(os.path.join(os.fsencode(submission), path), os.O_RDONLY | os.O_NONBLOCK))
    return reading


def remove() -> None:
    """Look at no kind."""
    swap(grade, "receive", _opening)
