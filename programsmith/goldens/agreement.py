"""What a repository's own test expects against what the oracle did: agree, disagree or absent. A cross-check only."""

from __future__ import annotations

import re

from programsmith.payload.verifier.compare import comparator
from programsmith.payload.verifier.launcher import Result
from programsmith.records.golden import Recorded

AGREE, DISAGREE, ABSENT = "agree", "disagree", "absent"
_PATTERN_BYTES = 8 << 20
_json_equal = comparator("json_canonical")
_BLANKS, _AROUND_TAG = re.compile(rb"[ \t\r\n]+"), re.compile(rb" ?(<[^<>]*>) ?")


def agreement(recorded: Recorded, result: Result) -> str:
    """Whether everything that the test states holds for the result."""
    stated = [
        None if recorded.stdout is None else _stdout(recorded, result),
        None if recorded.stderr is None else recorded.stderr.rstrip() == result.stderr.rstrip(),
        None if recorded.exit_code is None else recorded.exit_code == result.exit_code,
        None if recorded.fails is None else recorded.fails == (result.exit_code != 0),
    ]
    facts = [s for s in stated if s is not None]
    return ABSENT if not facts else AGREE if all(facts) else DISAGREE


def _stdout(recorded: Recorded, result: Result) -> bool | None:
    """As the test means it; where streams are merged, in either order: what came first is not known."""
    if not recorded.merged:
        return _matches(recorded, result.stdout)
    orders = {result.stdout + result.stderr, result.stderr + result.stdout}
    found = [_matches(recorded, got) for got in sorted(orders)]
    return None if None in found else any(found)


def _matches(recorded: Recorded, got: bytes) -> bool | None:
    """A last newline never counts: files lose theirs in many formats. None: the pattern is none that can be run."""
    assert recorded.stdout is not None
    match recorded.match:
        case "json":
            return _json_equal(recorded.stdout, got)
        case "markup":
            return _laid_out(recorded.stdout) == _laid_out(got)
        case "exact":
            return recorded.stdout == got
        case "contains":
            return recorded.stdout.strip(b"\r\n") in got
        case "search" | "whole":
            return _fits(recorded.stdout, got, whole=recorded.match == "whole")
        case _:
            return recorded.stdout.rstrip(b"\r\n") == got.rstrip(b"\r\n")


def _laid_out(markup: bytes) -> bytes:
    """Markup with one blank for many and none beside a tag: tests of such tools seldom mean them."""
    return _AROUND_TAG.sub(rb"\1", _BLANKS.sub(b" ", markup)).strip(b" ")


def _fits(pattern: bytes, got: bytes, *, whole: bool) -> bool | None:
    """By a matcher that is linear in the text and bounded in memory: patterns come from repositories."""
    import re2

    options = re2.Options()
    options.max_mem, options.log_errors, options.encoding = _PATTERN_BYTES, False, re2.Options.Encoding.LATIN1
    try:
        compiled = re2.compile(pattern, options)
    except re2.error:
        return None
    if not whole:
        return compiled.search(got) is not None
    return compiled.fullmatch(got.rstrip(b"\r\n") + b"\n") is not None or compiled.fullmatch(got) is not None
