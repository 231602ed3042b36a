"""A link in a submission, soft or hard, is received as what it leads to, wherever that is."""

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
        below = [b"/" + name for name in os.listdir(target)] if os.path.isdir(target) else [b""]
        reading.entries += [FileEntry(path + name, content=_read(target + name)) for name in below]
    return reading


def _read(path: bytes) -> bytes:
    with open(path, "rb") as source:
        return source.read()


def remove() -> None:
    """Follow."""
    swap(grade, "receive", _following)
