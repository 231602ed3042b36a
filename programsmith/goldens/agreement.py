"""What a repository's own test expects against what the oracle did: agree, disagree or absent. A cross-check only."""

from __future__ import annotations

from programsmith.payload.verifier.compare import comparator
from programsmith.payload.verifier.launcher import Result
from programsmith.records.golden import Recorded

AGREE, DISAGREE, ABSENT = "agree", "disagree", "absent"
_json_equal = comparator("json_canonical")


def agreement(recorded: Recorded, result: Result) -> str:
    """Whether everything that the test states holds for the result."""
    stated = [
        None if recorded.stdout is None else _stdout(recorded, result.stdout),
        None if recorded.stderr is None else recorded.stderr.rstrip() == result.stderr.rstrip(),
        None if recorded.exit_code is None else recorded.exit_code == result.exit_code,
        None if recorded.fails is None else recorded.fails == (result.exit_code != 0),
    ]
    facts = [s for s in stated if s is not None]
    return ABSENT if not facts else AGREE if all(facts) else DISAGREE


def _stdout(recorded: Recorded, got: bytes) -> bool:
    """As the test means it; files lose their last newline in many formats, so that never counts."""
    assert recorded.stdout is not None
    if recorded.match == "json":
        return _json_equal(recorded.stdout, got)
    return recorded.stdout.rstrip(b"\r\n") == got.rstrip(b"\r\n")
