from __future__ import annotations

import dataclasses
import subprocess

import pytest

from programsmith.bundle.cases import folders, graded, in_words, quote
from programsmith.bundle.tree import is_plain, plain
from programsmith.payload.verifier.compare import STREAM_DEFAULTS
from programsmith.payload.verifier.model import Case, Expected, FileEntry, GradedCase
from programsmith.records.golden import Golden, Provenance


def shown(case, expected):
    one = GradedCase(case=case, expected=expected, family="f", cpu_seconds=0.1)
    name = case.id.encode() + b"/"
    return {e.path.removeprefix(name): e for e in folders("tool", [one])}


@pytest.mark.parametrize("word", [b"", b"a b", b"'", b'$x `y` "z"', b"\\", b"line\nline", b"\xff\xfe", b"*?[", b"-n"])
def test_a_quoted_word_comes_back_from_the_shell_byte_for_byte(word):
    done = subprocess.run([b"/bin/sh", b"-c", b"printf %s " + quote(word)], capture_output=True, check=True)
    assert done.stdout == word


def test_a_folder_holds_the_case_byte_for_byte():
    case = Case(
        argv=(b"-n", b"it's"), stdin=b"\0\xff", env=((b"A", b"b c"),), files=(FileEntry(b"d/in", content=b"\x80"),)
    )
    files = shown(
        case, Expected(exit_code=3, stdout=b"\0", stderr_empty=False, files=(FileEntry(b"d/out", content=b"o"),))
    )
    assert files[b"cmd"].content == b"A='b c' tool '-n' 'it'\\''s'\n"
    assert files[b"stdin"].content == b"\0\xff"
    assert files[b"files/d/in"].content == b"\x80"
    assert files[b"expected_stdout"].content == b"\0"
    assert files[b"expected_exit"].content == b"3\n"
    assert files[b"expected_stderr"].content == b"not empty\n"
    assert files[b"expected_files/d/out"].content == b"o"
    assert b"only_in_public_jsonl" not in files


def test_a_signal_is_said_as_one():
    files = shown(Case(argv=()), Expected(exit_code=None, signal=11))
    assert files[b"expected_exit"].content == b"signal 11\n"


def test_what_a_folder_cannot_carry_is_named_and_not_laid_down():
    odd = (
        FileEntry(b"l", "link", 0o777, b"/etc/passwd"),
        FileEntry(b"\xff", content=b"x"),
        FileEntry(b"shut", "file", 0, b"x"),
        FileEntry(b"empty", "dir", 0o755),
        FileEntry(b"full", "dir", 0o755),
        FileEntry(b"full/a", content=b"a"),
    )
    files = shown(Case(argv=(), files=odd), Expected(exit_code=0))
    assert files[b"only_in_public_jsonl"].content == b"files/%FF\nfiles/empty\nfiles/l\nfiles/shut\n"
    assert [p for p in files if p.startswith(b"files/")] == [b"files/full/a"]


def golden(exec_seen):
    where = Provenance(miner="m", path=b"p", line=1, blob="0", licence="MIT")
    return Golden(
        id="c", case=Case(argv=()), expected=Expected(exit_code=0), provenance=where, family="f", group="g",
        agreement="absent", cpu_seconds=0.0, exec_seen=exec_seen,
    )  # fmt: skip


def test_a_case_may_start_what_the_oracle_started_but_neither_its_tree_nor_its_interpreter():
    seen = ("/opt/oracle/bin/x", "/usr/bin/python3", "/usr/bin/sort")
    found = graded(golden(seen), lambda path: path.endswith("python3"))
    assert found.exec_allowed == ("/usr/bin/sort",)


def test_a_case_is_compared_exactly_but_where_the_oracles_own_runs_differed():
    exact = graded(golden(()), bool)
    assert dict(exact.compare) == STREAM_DEFAULTS
    loose = graded(dataclasses.replace(golden(()), compare=(("stdout", "tokens"),)), bool)
    assert dict(loose.compare) == {**STREAM_DEFAULTS, "stdout": "tokens"}
    shown = {e.path.partition(b"/")[2]: e.content for e in folders("t", [loose])}
    assert shown[b"compare"] == b"stdout: tokens\n"
    assert not [e for e in folders("t", [exact]) if e.path.endswith(b"compare")]
    assert in_words([exact]) == STREAM_DEFAULTS
    assert in_words([exact, loose])["stdout"] == "bytes or, in cases with a file `compare`, tokens"


@pytest.mark.parametrize("path", [b"a/../b", b"..", b"a//b", b"\xc3\xa9", b"a\n", b"x" * 201, b""])
def test_paths_that_not_every_consumer_carries_are_not_plain(path):
    assert not is_plain(path)


def test_a_path_is_made_plain_by_escapes():
    assert plain(b"d\xff/a b\n") == b"d%FF/a b%0A"
    assert is_plain(plain(b"d\xff/a b\n").replace(b"%", b"_"))
