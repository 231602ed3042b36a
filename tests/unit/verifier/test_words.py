"""The case-word function: one row per way in which a case can end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, Expected, FileEntry, GradedCase
from programsmith.payload.verifier.words import LIMIT_WORDS, CaseWord, case_word

LAID = (FileEntry(b"in", "file", 0o644, b"1"),)
MADE = (*LAID, FileEntry(b"out", "file", 0o644, b"2"))


def golden(code: int | None = 0, out: bytes = b"ok\n", signal: int | None = None, **more: object) -> GradedCase:
    expected = Expected(exit_code=code, signal=signal, stdout=out)
    return GradedCase(case=Case(argv=(), files=LAID), expected=replace(expected, **more), family="f", cpu_seconds=0.0)


OK = Result(started=True, exit_code=0, stdout=b"ok\n", files=LAID)


def result(**more: object) -> Result:
    return replace(OK, **more)


def hit(*limits: str, **more: object) -> Result:
    return replace(OK, limits_hit=frozenset(limits), **more)


ROWS = [
    ("right in everything", golden(), OK, CaseWord.AC),
    ("right failure", golden(1, b""), result(exit_code=1, stdout=b""), CaseWord.AC),
    ("right signal", golden(None, b"", 6), result(exit_code=None, signal=6, stdout=b""), CaseWord.AC),
    ("right files", golden(files=MADE), result(files=MADE), CaseWord.AC),
    ("right stderr class", golden(stderr_empty=False), result(stderr=b"other words"), CaseWord.AC),
    ("no result at all", golden(), None, CaseWord.NOT_RUN),
    ("launcher fault", golden(), Result(fault="no status"), CaseWord.INFRA),
    ("launcher fault beside right output", golden(), result(fault="lost"), CaseWord.INFRA),
    ("fault for a silent failure", golden(1, b""), Result(fault="x", exit_code=1), CaseWord.INFRA),
    ("nothing reported", golden(1, b""), Result(), CaseWord.INFRA),
    ("an end without a start", golden(1, b""), Result(exit_code=1), CaseWord.INFRA),
    ("exec failed", golden(), Result(start_error=8), CaseWord.NOT_RUN),
    ("exec failed where 126 is wanted", golden(126, b""), Result(start_error=13), CaseWord.NOT_RUN),
    ("exec failed where 127 is wanted", golden(127, b""), Result(start_error=2, exit_code=127), CaseWord.NOT_RUN),
    ("started, no end", golden(), result(exit_code=None), CaseWord.INFRA),
    ("two ends", golden(), result(signal=9), CaseWord.INFRA),
    ("an unknown limit", golden(), hit("gravity"), CaseWord.INFRA),
    ("output limit, right prefix", golden(), hit("output", exit_code=None, signal=9), CaseWord.OLE),
    ("output limit, equal bytes", golden(), hit("output"), CaseWord.OLE),
    ("work directory full, right output", golden(), hit("work"), CaseWord.OLE),
    ("CPU limit, right output", golden(), hit("cpu"), CaseWord.TLE_CPU),
    ("wall limit, right output", golden(), hit("wall"), CaseWord.TLE_WALL),
    ("wall limit, killed", golden(), hit("wall", exit_code=None, signal=9), CaseWord.TLE_WALL),
    ("memory limit, right output", golden(), hit("memory"), CaseWord.MLE),
    ("process limit, right output", golden(), hit("pids"), CaseWord.MLE),
    ("memory before time", golden(), hit("cpu", "wall", "memory"), CaseWord.MLE),
    ("output before time", golden(), hit("wall", "output"), CaseWord.OLE),
    ("CPU before wall", golden(), hit("wall", "cpu"), CaseWord.TLE_CPU),
    (
        "a limit where a signal is wanted",
        golden(None, b"ok\n", 9),
        hit("cpu", exit_code=None, signal=9),
        CaseWord.TLE_CPU,
    ),
    ("killed by a signal", golden(), result(exit_code=None, signal=11), CaseWord.SIGNAL),
    ("another signal than wanted", golden(None, b"ok\n", 6), result(exit_code=None, signal=11), CaseWord.SIGNAL),
    ("exit(139) is no SIGSEGV", golden(None, b"ok\n", 11), result(exit_code=139), CaseWord.WA_EXIT),
    ("SIGSEGV is no exit(139)", golden(139), result(exit_code=None, signal=11), CaseWord.SIGNAL),
    ("exit(137) is no SIGKILL", golden(None, b"ok\n", 9), result(exit_code=137), CaseWord.WA_EXIT),
    ("another exit code", golden(), result(exit_code=1), CaseWord.WA_EXIT),
    ("no output", golden(), result(stdout=b""), CaseWord.WA_STDOUT),
    ("more output", golden(), result(stdout=b"ok\nmore"), CaseWord.WA_STDOUT),
    ("output behind a NUL", golden(), result(stdout=b"ok\n\0"), CaseWord.WA_STDOUT),
    ("a verdict as output", golden(), result(stdout=b"AC\n"), CaseWord.WA_STDOUT),
    ("output before exit code", golden(), result(stdout=b"", exit_code=1), CaseWord.WA_STDOUT),
    ("a file too many", golden(), result(files=MADE), CaseWord.WA_FILES),
    ("a file too few", golden(files=MADE), OK, CaseWord.WA_FILES),
    ("input removed", golden(), result(files=()), CaseWord.WA_FILES),
    ("input rewritten", golden(), result(files=(replace(LAID[0], content=b"9"),)), CaseWord.WA_FILES),
    ("files not readable", golden(), result(files=None), CaseWord.WA_FILES),
    ("noise on stderr", golden(), result(stderr=b"!"), CaseWord.WA_STDERR),
    ("silence on stderr", golden(stderr_empty=False), OK, CaseWord.WA_STDERR),
]


@pytest.mark.parametrize(("graded", "ran", "word"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_case_ends_in_exactly_this_word(graded: GradedCase, ran: Result | None, word: CaseWord) -> None:
    assert case_word(graded, ran) is word


def test_every_word_is_reached_by_some_row() -> None:
    assert {row[3] for row in ROWS} == set(CaseWord)


def test_only_a_flawless_row_is_accepted_whatever_limit_is_added() -> None:
    for limit, word in LIMIT_WORDS:
        for _, graded, ran, _ in ROWS:
            if ran is not None and ran.started and not ran.fault and not ran.limits_hit:
                assert case_word(graded, replace(ran, limits_hit=frozenset({limit}))) is word


def test_stderr_is_ignored_where_the_case_says_so() -> None:
    lax = replace(golden(), compare=(("stderr", "ignore"),))
    assert case_word(lax, result(stderr=b"!")) is CaseWord.AC


def test_the_stdout_comparator_of_the_case_is_used() -> None:
    lax = replace(golden(out=b"a\nb\n"), compare=(("stdout", "lines_unordered"),))
    assert case_word(lax, result(stdout=b"b\na\n")) is CaseWord.AC
    assert case_word(lax, result(stdout=b"b\nb\n")) is CaseWord.WA_STDOUT
