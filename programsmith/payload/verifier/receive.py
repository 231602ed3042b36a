"""A submission as it lies on disk becomes a private copy in memory: what was handed in, and what was left out.

Refused (TreeError): more entries, bytes or levels than the policy says. Left out by name: links, fifos, sockets,
devices, hard links that reach outside, and the bytecode folders that a Python interpreter leaves by itself.
"""

from __future__ import annotations

from programsmith.payload.verifier.environment import EXECUTABLE
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.payload.verifier.tree import Caps, TreeReading, read_tree

LEFT_BY_RUNNING = frozenset({b"__pycache__"})


def receive(submission: str, rule: ReceiptRule) -> TreeReading:
    """Read the submission. The build's output path is emptied: nothing handed in there counts as built.

    Raises TreeError; OSError where the submission's folder itself cannot be read.
    """
    reading = read_tree(submission, Caps(files=rule.files, bytes=rule.bytes, depth=rule.depth), skip=LEFT_BY_RUNNING)
    output = EXECUTABLE.encode()
    stale = [e for e in reading.entries if _is_at_or_below(e, output)]
    reading.entries = [e for e in reading.entries if not _is_at_or_below(e, output)]
    reading.left_out = sorted([*reading.left_out, *((e.path, "at the build's output path") for e in stale)])
    return reading


def _is_at_or_below(entry: FileEntry, path: bytes) -> bool:
    return entry.path == path or entry.path.startswith(path + b"/")
