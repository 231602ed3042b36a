from __future__ import annotations

import pytest

from tests.samples.mine import mine, staged


@pytest.fixture(scope="module")
def stage():
    with staged(cpu_seconds=5, wall_seconds=30) as stage:
        yield stage


CRAM = b"""Setup:

  $ . $TESTDIR/setup.sh
  $ printf 'Foo\\n' > ./sample
  $ alias more='tool --more'

A call, its code, an alias with a path, what goes on:

  $ tool foo sample
  1:Foo
  [2]
  $ more x \\
  > y
  \\x1b[1mx (esc)
  a* (glob)
  [0-9]+ (re)
  last (no-eol)
  $ tool z | sort
  out
  $ echo b > later; V=1 tool later < sample
  $ tool >kept
  $ tool kept
"""
SETUP = b'alias tool="$TESTDIR/../bin/tool --plain"\nmkdir -p d\n'


def test_a_cram_file_is_played_and_each_call_has_the_files_that_lay_there(stage):
    found, skipped = mine("transcripts", {b"tests/a.t": CRAM, b"tests/setup.sh": SETUP}, stage=stage)
    assert [m.case.argv for m in found] == [
        (b"--plain", b"foo", b"sample"),
        (b"--plain", b"--more", b"x", b"y"),
        (b"--plain", b"z"),
        (b"--plain", b"later"),
        (b"--plain",),
    ]
    assert {f.path: f.content for f in found[0].case.files} == {b"d": b"", b"sample": b"Foo\n"}
    assert found[0].recorded.exit_code == 2
    assert found[0].recorded.merged
    assert (found[3].case.env, found[3].case.stdin) == (((b"V", b"1"),), b"Foo\n")
    assert found[2].recorded.stdout is None
    assert found[0].provenance.line == 9
    assert skipped == {"chained": 1}


def test_marks_of_cram_become_one_pattern_that_knows_what_is_open(stage):
    from programsmith.goldens.agreement import agreement
    from programsmith.payload.verifier.launcher import Result

    found, _ = mine("transcripts", {b"tests/a.t": CRAM, b"tests/setup.sh": SETUP}, stage=stage)
    said = found[1].recorded
    for out, word in ((b"\x1b[1mx\nabc\n42\nlast", "agree"), (b"\x1b[1mx\nbc\n42\nlast\n", "disagree")):
        assert agreement(said, Result(started=True, exit_code=0, stdout=out)) == word
    parted = Result(started=True, exit_code=0, stdout=b"abc\n42\nlast\n", stderr=b"\x1b[1mx\n")
    assert agreement(said, parted) == "agree"


def test_tesh_states_code_output_errors_and_stdin(stage):
    text = b"$ cd notes\n\n$ tool list\n>one\n>two\n\n1$ tool bad\n2>error: x\n$ tool read\n<in\n>out\n"
    files = {b"tests/a.tesh": b"$ mkdir notes\n" + text}
    found, skipped = mine("transcripts", files, stage=stage)
    assert [m.case.argv for m in found] == [(b"list",), (b"bad",), (b"read",)]
    assert [m.recorded.exit_code for m in found] == [0, 1, 0]
    assert (found[0].recorded.stdout, found[1].recorded.stderr) == (b"one\ntwo\n", b"error: x\n")
    assert found[2].case.stdin == b"in\n"
    assert skipped == {}


def test_hostile_transcripts_end_and_others_are_left_alone(stage):
    found, skipped = mine(
        "transcripts",
        {
            b"a.t": b"  $ tool 'unclosed\n  $ exit 3\n  $ tool b\n",
            b"b.t": b"#!/usr/bin/perl\nok(1);\n",
            b"d.t": b"  $ __step=500; tool far\n",
            b"c.t": b"  $ tool \xff\n  $ rm -rf /; cat /etc/shadow > x; tool x\n",
        },
        stage=stage,
    )
    assert [m.case.argv for m in found] == [(b"\xff",), (b"x",)]
    assert {f.content for f in found[1].case.files} == {b""}
    assert mine("transcripts", {b"a.t": b"  $ tool\n" * 20_000})[1] == {"page_too_large": 1}
    _, skipped = mine("transcripts", {b"a.t": b"  $ tool b\n"})
    assert skipped == {"no_stage": 1}
