"""A link in a submission is received as what it leads to, wherever that is."""

from __future__ import annotations

import os
from collections.abc import Callable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.payload.verifier.tree import TreeReading

Receive = Callable[[str, ReceiptRule], TreeReading]


def _following(former: Receive, submission: str, rule: ReceiptRule) -> TreeReading:
    reading = former(submission, rule)
    for path, _ in reading.left_out:
        target = os.path.join(os.fsencode(submission), path)
        if os.path.islink(target) and os.path.isfile(target):
            with open(target, "rb") as source:
                reading.entries.append(FileEntry(path, content=source.read()))
    return reading


def remove() -> None:
    """Follow."""
    swap(grade, "receive", _following)
