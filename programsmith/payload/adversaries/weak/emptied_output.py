"""The output path is not emptied: what was handed in there counts as built."""

from __future__ import annotations

from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.payload.verifier.receive import LEFT_BY_RUNNING
from programsmith.payload.verifier.tree import Caps, TreeReading, read_tree


def _receive(_former: Any, submission: str, rule: ReceiptRule) -> TreeReading:
    return read_tree(submission, Caps(files=rule.files, bytes=rule.bytes, depth=rule.depth), skip=LEFT_BY_RUNNING)


def remove() -> None:
    """Receive everything."""
    swap(grade, "receive", _receive)
