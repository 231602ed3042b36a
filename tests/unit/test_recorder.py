"""Suites written in code are run for real, in the sandbox, with the stand-in: what they call becomes cases."""

from __future__ import annotations

import contextlib
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.samples.suites import ECHOES, SHOW, Recorded, record


def recorded(files: dict[str, bytes], language: str, scratch: Path, **rule: object):
    if not shutil.which("gcc"):
        pytest.skip("no C compiler; run: apt-get install -y gcc make libc6-dev")
    return contextlib.closing(_Closing(record(files, language, scratch, **rule)))


class _Closing:
    def __init__(self, found: Recorded) -> None:
        self.found = found

    def close(self) -> None:
        self.found.capture.forms["release"].launcher.close()


@pytest.fixture(scope="module")
def show(tmp_path_factory):
    with recorded(SHOW, "c", tmp_path_factory.mktemp("show")) as open_one:
        yield open_one.found


@pytest.fixture(scope="module")
def echoes(tmp_path_factory):
    with recorded(ECHOES, "python", tmp_path_factory.mktemp("echoes")) as open_one:
        if "no_pytest" in open_one.found.skipped:
            pytest.skip("pytest's wheel cannot be had; connect to the package index")
        yield open_one.found


def test_every_kept_call_of_a_c_suite_is_the_same_alone(show):
    found = show.replayed()
    assert [m.case.argv for m in found.pop("disagree")] == [(b"-x", b"./show tests/one.txt")]
    assert set(found) == {"agree"}
    assert {m.provenance.path for m in show.cases} >= {b"tests/run-tests.sh"}
    assert {m.provenance.miner for m in show.cases} == {"recorder"}


def test_state_that_calls_leave_for_others_is_part_of_each(show):
    before = {m.case.files[-1].content for m in show.by_argv(b"tests/chain.txt")}
    assert before == {b"a", b"ab"}
    (first,) = show.by_argv(b"-w", b"tests/chain.txt", b"a")
    (second,) = show.by_argv(b"-w", b"tests/chain.txt", b"b")
    assert not [f for f in first.case.files if f.path == b"tests/chain.txt"]
    assert [f.content for f in second.case.files if f.path == b"tests/chain.txt"] == [b"a"]


def test_temporary_folders_become_the_work_folder(show):
    (one,) = show.by_argv(b"f")
    assert [(f.path, f.content) for f in one.case.files] == [(b"f", b"inner\n")]
    assert one.recorded.stdout == b"f:\ninner\n"
    (listed,) = show.by_argv(b"-l", b"sub", b"f")
    assert {f.path for f in listed.case.files} == {b"f", b"sub", b"sub/x", b"sub/y"}


def test_stdin_comes_from_pipes_and_files(show):
    stdin = {(m.case.stdin, m.case.env) for m in show.by_argv(b"-s")}
    assert stdin == {(b"piped\n", ((b"SHOW_MODE", b"loud"),)), (b"one\n", ())}


def test_a_loop_over_a_file_goes_on_where_the_program_reads_nothing(show):
    assert all(m.case.stdin == b"" for m in show.by_argv(b"f"))
    assert show.skipped["duplicate"] >= 2


def test_only_the_outermost_call_is_a_case(show):
    (outer,) = show.by_argv(b"-x", b"./show tests/one.txt")
    assert outer.recorded.stdout == b"tests/one.txt:\none\n"


def test_links_and_paths_of_the_suite_lead_nowhere_outside(show):
    (inside,) = show.by_argv(b"link")
    assert {(f.path, f.kind) for f in inside.case.files} == {(b"link", "link"), (b"f", "file")}
    assert show.skipped["outside_link"] >= 1
    assert show.skipped["absolute_path"] >= 1
    shown = b"".join(b"".join(m.case.argv) + b"".join(f.content for f in m.case.files) for m in show.cases)
    assert b"/build" not in shown
    assert b"root:" not in shown


def test_a_python_suite_calls_by_module_name_and_script(echoes):
    assert set(echoes.replayed()) == {"agree"}
    tests = {m.group for m in echoes.cases}
    assert "tests/test_echoes.py:test_module" in tests
    assert "tests/test_echoes.py:test_console" in tests
    assert "tests/test_echoes.py:test_unittest" in tests
    assert echoes.by_argv(b"placed")
    assert echoes.by_argv(b"by python")
    assert echoes.by_argv(b"-m", b"late")
    (one,) = echoes.by_argv(b"in.txt")
    assert one.provenance.line == ECHOES["tests/test_echoes.py"].split(b"\n").index(b"def test_module(tmp_path):") + 1


def test_variables_that_the_program_does_not_know_stay_out(echoes):
    (one,) = echoes.by_argv(b"n1")
    assert one.case.env == ((b"ECHOES_MODE", b"m"),)
    assert one.case.stdin == b"in"


def test_chained_and_parallel_tests_come_apart(echoes):
    assert {m.case.files[0].content for m in echoes.by_argv(b"state")} == {b"first", b"second"}
    for n in range(4):
        (one,) = echoes.by_argv(b"p%d" % n)
        assert [(f.path, f.content) for f in one.case.files] == [(b"p%d" % n, b"%d" % n)]


def test_code_called_in_the_test_s_own_process_is_counted(echoes):
    assert echoes.skipped["in_process"] == 2
    assert not [m for m in echoes.cases if m.provenance.path == b"tests/test_inside.py"]


@pytest.mark.skipif(not shutil.which("bats"), reason="no bats; run: apt-get install -y bats")
def test_bats_names_its_tests(show):
    (one,) = show.by_argv(b"in.txt")
    assert one.group == "tests/show.bats:shows a file"
    assert one.provenance.line == 1
    assert all(show.by_argv(b"p%d" % n) for n in range(1, 7))


def test_a_python_suite_that_starts_nothing_is_not_run(tmp_path):
    files = {**ECHOES, "tests/test_echoes.py": b"from echoes.cli import main\n\n\ndef test_it():\n    main(['x'])\n"}
    found = record(files, "python", tmp_path)
    found.capture.forms["release"].launcher.close()
    assert found.skipped == {"starts_nothing": 1, "in_process": 3}


@pytest.mark.skipif(not shutil.which("bats"), reason="no bats; run: apt-get install -y bats")
def test_of_a_test_that_makes_many_calls_some_become_cases(tmp_path):
    files = {name: SHOW[name] for name in ("show.c", "Makefile")}
    body = b"".join(b"  ./show a%d || true\n" % n for n in range(9))
    files["tests/many.bats"] = b"@test many {\n" + body + b"}\n@test few {\n  ./show b || true\n}\n"
    with recorded(files, "c", tmp_path, calls_of_test=4) as open_one:
        groups = Counter(m.group for m in open_one.found.cases)
        assert groups == {"tests/many.bats:many": 4, "tests/many.bats:few": 1}
        assert open_one.found.skipped["many_calls"] == 5


def test_a_suite_that_calls_nothing_tells_its_last_words(tmp_path):
    """A person who reads the log sees why: most often the suite lacks something."""
    files = {name: SHOW[name] for name in ("show.c", "Makefile")}
    files["tests/test_show.sh"] = b"#!/bin/sh\nprintf 'words: not \\033[2J found\\n' >&2\nexit 1\nexec ./show a\n"
    with recorded(files, "c", tmp_path) as open_one:
        told = [line for line in open_one.found.said if line.startswith("recorder: scripts: nothing was called")]
        assert told[0].endswith("words: not \\x1b[2J found")
        assert told[0].replace("\n", "").isprintable()
        assert open_one.found.cases == []
