"""The closed words in which a case and a build end, the one function that gives a case its word, and their counts.

The function is pure: what the launcher reports and what the golden says go in, one word comes out. No word is ever
derived from a text that submitted code wrote; a stream that was cut short is never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from programsmith.payload.verifier.compare import choice, comparator, same_tree
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, Expected, FileEntry, GradedCase

NAME_BYTES = 512  # of a path that a report shows


class CaseWord(StrEnum):
    """How a case ended. Only AC passes; only INFRA cannot be the submission's doing."""

    AC = "AC"
    WA_STDOUT = "WA_STDOUT"
    WA_EXIT = "WA_EXIT"
    WA_FILES = "WA_FILES"
    WA_STDERR = "WA_STDERR"  # empty where the oracle's is not, or the other way round
    TLE_CPU = "TLE_CPU"
    TLE_WALL = "TLE_WALL"
    MLE = "MLE"  # memory or number of processes
    OLE = "OLE"  # stdout, stderr or the work directory
    SIGNAL = "SIGNAL"
    NOT_RUN = "NOT_RUN"  # no result, or the program could not be executed
    INFRA = "INFRA"


class BuildWord(StrEnum):
    """Why no case ran."""

    NO_BUILD = "NO_BUILD"  # no compile.sh, or it left no executable
    BUILD_FAIL = "BUILD_FAIL"  # compile.sh failed or overran a limit
    POLICY = "POLICY"  # what was handed in is not what the policy allows


# The first of these that a launch hit gives the word: what a program did in excess comes before the clock.
LIMIT_WORDS: tuple[tuple[str, CaseWord], ...] = (
    ("memory", CaseWord.MLE),
    ("pids", CaseWord.MLE),
    ("output", CaseWord.OLE),
    ("work", CaseWord.OLE),
    ("cpu", CaseWord.TLE_CPU),
    ("wall", CaseWord.TLE_WALL),
)


def case_word(graded: GradedCase, result: Result | None) -> CaseWord:
    """The word of one case. `result` is None where the case has none. Raises ValueError on a broken `compare`."""
    early = _launch_word(result)
    if early is not None:
        return early
    assert result is not None
    if result.signal is not None and result.signal != graded.expected.signal:
        return CaseWord.SIGNAL
    return _difference(graded, result) or CaseWord.AC


def _launch_word(result: Result | None) -> CaseWord | None:
    if result is None:
        return CaseWord.NOT_RUN
    if result.fault is not None:
        return CaseWord.INFRA
    if not result.started:
        return CaseWord.INFRA if result.start_error is None else CaseWord.NOT_RUN
    for limit, word in LIMIT_WORDS:
        if limit in result.limits_hit:
            return word
    if result.limits_hit or (result.exit_code is None) == (result.signal is None):
        return CaseWord.INFRA
    return None


def _difference(graded: GradedCase, result: Result) -> CaseWord | None:
    chosen, expected = choice(graded.compare), graded.expected
    if not comparator(chosen["stdout"])(expected.stdout, result.stdout):
        return CaseWord.WA_STDOUT
    if (result.exit_code, result.signal) != (expected.exit_code, expected.signal):
        return CaseWord.WA_EXIT
    if result.files is None or not same_tree(expected_files(graded.case, expected), result.files):
        return CaseWord.WA_FILES
    if chosen["stderr"] == "emptiness" and (not result.stderr) != expected.stderr_empty:
        return CaseWord.WA_STDERR
    return None


def expected_files(case: Case, expected: Expected) -> tuple[FileEntry, ...]:
    """What the work directory must hold afterwards: the golden's files, or what the case laid down."""
    return case.files if expected.files is None else expected.files


def count_families(cases: Iterable[GradedCase], words: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """(passed, total) per family, over the cases that `words` names."""
    counts: dict[str, tuple[int, int]] = {}
    for graded in cases:
        word = words.get(graded.case.id)
        if word is not None:
            passed, total = counts.get(graded.family, (0, 0))
            counts[graded.family] = (passed + (word == CaseWord.AC), total + 1)
    return dict(sorted(counts.items()))


def shown(raw: bytes) -> str:
    """Bytes for a person's eyes: printable ASCII, everything else escaped."""
    return repr(raw)[2:-1]


def named(path: bytes) -> str:
    """A path for a person's eyes, long ones cut: a report that names thousands stays one that is read."""
    return shown(path) if len(path) <= NAME_BYTES else shown(path[:NAME_BYTES]) + "..."
