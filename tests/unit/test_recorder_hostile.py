"""A suite is foreign code: what it writes in place of logs, and where, is at most an odd input, and always counted."""

from __future__ import annotations

import shutil
import struct

import pytest

from programsmith.goldens.agreement import DISAGREE
from programsmith.goldens.observe import REPLAY_DIFFERS, Observer
from programsmith.miners.base import MineLimits, Skip
from programsmith.miners.recording import log
from programsmith.miners.recording.cases import Suite, case_of
from programsmith.miners.recording.log import Call, Note, read_call
from programsmith.miners.recording.paths import Roots, places_of
from programsmith.payload.verifier.launcher import Result
from tests.samples.suites import SHOW, record

ROOTS = Roots(source=b"/build/source", home=b"/build/home", temporary=(b"/build/tmp", b"/tmp"), own=b"/build/record")
SUITE = Suite(
    roots=ROOTS,
    env={b"A": b"1"},
    names=frozenset({b"A", b"B", b"PATH", b"HOME"}),
    limits=MineLimits(fixture_files=5, fixture_bytes=100, table_bytes=0, table_nodes=0),
)


def note(path, content=b"x", kind=log.FILE, how=log.OPENED, mode=0o644):
    return Note(how, kind, mode, path, content)


def call(*argv, **more):
    return Call(**{"argv": list(argv), "cwd": b"/build/tmp/t/work", **more})


def made(tag, payload):
    return tag + struct.pack("<Q", len(payload)) + payload


def refused(one):
    with pytest.raises(Skip) as skip:
        case_of(one, SUITE)
    return str(skip.value)


@pytest.mark.parametrize(
    "log",
    [
        b"",
        b"garbage",
        made(b"A", b"x"),
        made(b"Q", b"") + made(b"Z", b""),
        made(b"X", b"short") + made(b"Z", b""),
        made(b"F", b"short") + made(b"Z", b""),
        made(b"F", struct.pack("<4Q", 2, 0, 0, 1 << 60) + b"/x") + made(b"Z", b""),
        made(b"F", struct.pack("<4Q", 2, 99, 0, 1) + b"/") + made(b"Z", b""),
        b"A" + struct.pack("<Q", 1 << 63) + b"x",
    ],
)
def test_what_is_no_log_is_none(log):
    assert read_call(log) is None


def test_a_whole_log_is_read():
    noted = struct.pack("<4Q", 2, 0, 0o100755, 2) + b"/fcontent"
    got = read_call(
        made(b"A", b"-x") + made(b"E", b"N=a=b") + made(b"F", noted) + made(b"X", bytes(8)) + made(b"Z", b"")
    )
    assert got is not None
    assert (got.argv, got.env, got.status) == ([b"-x"], {b"N": b"a=b"}, 0)
    assert got.notes == [Note(2, 0, 0o755, b"/f", b"content")]


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (call(words=["tty"]), "tty"),
        (call(words=["anything at all"]), "odd_log"),
        (call(status=9), "signal"),
        (call(cwd=b"/etc"), "outside_path"),
        (call(cwd=b"/build/tmp"), "outside_path"),
        (call(cwd=b"/build/tmp/../../etc"), "odd_log"),
        (call(b"a\0b"), "odd_log"),
        (call(env={b"B": b"\0"}), "odd_log"),
        (call(notes=[note(b"relative")]), "odd_log"),
        (call(notes=[note(b"/build/tmp/t/work/f", kind=log.SPECIAL)]), "special_file"),
        (call(notes=[note(b"/build/tmp/t/work/f", kind=log.LARGE)]), "fixture_too_large"),
        (call(notes=[note(b"/build/tmp/t/work/f", b"y" * 101)]), "fixture_too_large"),
        (call(notes=[note(b"/build/tmp/t/work/%d" % n) for n in range(6)]), "fixture_too_large"),
        (call(notes=[note(b"/build/tmp/t/work/l", b"/etc/passwd", log.LINK)]), "outside_link"),
        (call(notes=[note(b"/build/tmp/t/work/l", b"../../../../etc", log.LINK)]), "outside_link"),
        (call(notes=[note(b"/build/tmp/t/work/l", b"", log.LINK)]), "outside_link"),
        (call(notes=[note(b"/build/tmp/t/work/f", b"at /build/source/x")]), "absolute_path"),
        (call(b"--in=/tmp/a/b/../c"), None),
        (call(b"x/build/source/f"), "absolute_path"),
        (call(b"--font=/build/record/path/tool"), "absolute_path"),
        (call(env={b"B": b"/build/record/path/tool"}), "absolute_path"),
        (call(notes=[note(b"/build/tmp/t/work/f"), note(b"/build/tmp/t/work/f/g")]), "odd_path"),
        (call(notes=[note(b"/build/tmp/t/work/f", b"1"), note(b"/build/source/f", b"2")]), "two_folders"),
    ],
)
def test_what_can_be_no_case_is_refused_by_its_word(one, word):
    if word is None:
        case_of(one, SUITE)
    else:
        assert refused(one) == word


def test_the_first_look_at_a_file_counts():
    path = b"/build/tmp/t/work/f"
    case, _ = case_of(call(notes=[note(path, b"", log.ABSENT), note(path, b"", how=log.LISTED)]), SUITE)
    assert case.files == ()
    case, _ = case_of(call(notes=[note(path, b"old"), note(path, b"new")]), SUITE)
    assert [f.content for f in case.files] == [b"old"]


def test_variables_count_where_they_changed_and_the_program_knows_them():
    env = {b"A": b"1", b"B": b"/build/tmp/t/work/x", b"C": b"3", b"PATH": b"/evil", b"HOME": b"/build/tmp/t/work"}
    case, _ = case_of(call(env=env), SUITE)
    assert case.env == ((b"B", b"x"),)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b"/build/tmp/t/work/a", b"a"),
        (b"--o=/build/tmp/t/work", b"--o=."),
        (b"/build/tmp/t/work/", b"."),
        (b"/build/tmp/t/worker", b"/build/tmp/t/worker"),
        (b"a:/build/tmp/t/work/b,/build/tmp/t/work/c", b"a:b,c"),
        (b"in /build/tmp/t/work//b there", b"in b there"),
    ],
)
def test_exact_mentions_are_rewritten(text, want):
    assert places_of(b"/build/tmp/t/work", ROOTS, (), ()).rewritten(text) == want


def test_in_an_output_a_place_may_stand_behind_anything():
    path = b"/build/tmp/t/work/f"
    one = call(path, notes=[note(path)], stdout=b"--- original/" + path + b"\n")
    assert case_of(one, SUITE)[1].stdout == b"--- original/f\n"


@pytest.mark.parametrize(("mode", "want"), [(0o600, 0o644), (0o711, 0o755), (0o444, 0o444), (0o500, 0o555)])
def test_whether_a_file_can_be_written_and_executed_counts(mode, want):
    case, _ = case_of(call(notes=[note(b"/build/tmp/t/work/f", mode=mode)]), SUITE)
    assert case.files[0].mode == want


def test_names_made_at_random_are_the_same_whenever_the_suite_runs():
    first, second = (
        case_of(
            call(
                b"/build/tmp/" + name + b".c",
                cwd=b"/build/source",
                notes=[note(b"/build/tmp/" + name + b".c", b"int x;")],
            ),
            SUITE,
        )[0]
        for name in (b"tmpa8f_kx02", b"tmpq1z9mm3b")
    )
    assert first == second
    assert first.argv == (b"t1.c",)


def test_a_case_that_the_oracle_answers_otherwise_is_dropped_after_one_launch():
    class Oracle:
        launches = 0

        def run(self, _case):
            self.launches += 1
            return Result(started=True, exit_code=0, stdout=b"other", files=())

    oracle = Oracle()
    case, recorded = case_of(call(b"x", stdout=b"seen"), SUITE)
    seen = Observer(oracle, (), repeats=1, rare_share=0.5).observe(case, recorded)
    assert (seen.dropped, seen.agreement, oracle.launches) == (REPLAY_DIFFERS, DISAGREE, 1)


HOSTILE = rb"""#!/bin/sh
./show honest
C=$(sed -n 's/^calls.//p' /build/record/config)
head -c 300000 /dev/zero > "$C/zeros"
ln -s /etc/passwd "$C/link"; mkfifo "$C/fifo"; mkdir "$C/folder"
yes | head -c 50000000 > /build/source/loud; ./show loud > /dev/null
mkfifo /build/source/pipe; ln -s self /build/source/self
./show self; ./show pipe < /dev/null & sleep 1; kill $! 2> /dev/null
(b() { b | b & b; }; b) 2> /dev/null &
sleep 2
rm -rf /build/record/calls; ln -s /etc /build/record/calls; rm -rf /build/record/config; mkdir -p /build/record/config/x
rm -rf /build/source
"""


def test_a_hostile_suite_ends_and_is_counted(tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("no C compiler; run: apt-get install -y gcc make libc6-dev")
    files = {"show.c": SHOW["show.c"], "Makefile": SHOW["Makefile"], "tests/run-tests.sh": HOSTILE}
    found = record(files, "c", tmp_path, piece_cpu_seconds=20)
    found.capture.forms["release"].launcher.close()
    assert {k for k in found.skipped if k in {"odd_log", "place_broken"}}
    assert not [m for m in found.cases if b"root" in b"".join(f.content for f in m.case.files)]


def test_numbers_go_by_the_order_of_the_input():
    for one, other in ((b"aaaaaaaa", b"zzzzzzzz"), (b"zzzzzzzz", b"aaaaaaaa")):
        paths = [b"/build/tmp/" + one, b"/build/tmp/" + other]
        case, _ = case_of(call(*paths, cwd=b"/build/source", notes=[note(p) for p in sorted(paths)]), SUITE)
        assert case.argv == (b"t1", b"t2")
