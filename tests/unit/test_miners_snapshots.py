"""trycmd, insta, testscript and gherkin: formats of which a file or a block states one call whole."""

from __future__ import annotations

from programsmith.goldens.agreement import agreement
from programsmith.payload.verifier.launcher import Result
from tests.samples.mine import mine


def done(out=b"", err=b"", code=0):
    return Result(started=True, exit_code=code, stdout=out, stderr=err)


def test_a_trycmd_table_brings_its_folder_and_its_streams():
    files = {
        b"cmd/a.toml": b"bin.name = 'tool'\nargs = \"-x 'a b'\"\nstatus.code = 2\nstdin = 'in'\n"
        b"env.add.V = '1'\nstdout = '''\nv[..]\n...\nz\n'''\n",
        b"cmd/a.in/d/f": b"F",
        b"cmd/b.toml": b"bin.name = 'tool'\nargs = ['y']\nstatus = 'failed'\n",
        b"cmd/b.stdin": b"beside",
        b"cmd/b.stdout": b"[CWD]/x\n",
    }
    (a, b), skipped = mine("trycmd", files)
    assert (a.case.argv, a.case.stdin, a.case.env) == ((b"-x", b"a b"), b"in", ((b"V", b"1"),))
    assert [(f.path, f.content) for f in a.case.files] == [(b"d/f", b"F")]
    assert agreement(a.recorded, done(b"v1.2\nq\nr\nz\n", code=2)) == "agree"
    assert agreement(a.recorded, done(b"v1.2\nq\n", code=2)) == "disagree"
    assert (b.case.stdin, b.recorded.stdout, b.recorded.fails) == (b"beside", None, True)
    assert skipped == {}


def test_a_trycmd_page_has_commands_statuses_and_the_suffix_of_executables():
    page = b"# x\n```console\n$ tool a \\\n> b\nUsage: tool[EXE] [..]\n\n$ tool --bad\n? failed\nerror\n\n```\n"
    page += b"```trycmd,ignore\n$ tool no\n```\n"
    found, _ = mine("trycmd", {b"t/p.trycmd": page})
    assert [m.case.argv for m in found] == [(b"a", b"b"), (b"--bad",)]
    assert agreement(found[0].recorded, done(b"Usage: tool FILE\n")) == "agree"
    assert found[1].recorded.fails is True
    assert agreement(found[1].recorded, done(err=b"error\n", code=1)) == "agree"


def test_what_is_no_trycmd_test_is_counted_or_left():
    files = {
        b"a.toml": b"bin.name = 'other'\n",
        b"b.toml": b"bin.name = 'tool'\nfs.cwd = 'x'\n",
        b"c.toml": b"bin.name = [",
        b"d.toml": b"bin.name = 'tool'\nargs = [1]\n",
        b"e.toml": b"[package]\nname = 'tool'\n",
        b"f.toml": b'bin.name = "tool"\nargs = ["a\\u0000b"]\n',
        b"README.md": b"```console\n$ tool x\n```\n",
    }
    found, skipped = mine("trycmd", files)
    assert found == []
    assert skipped == {"other_program": 1, "own_folder": 1, "bad_table": 1, "not_text": 2}


SNAP = b"""---
source: tests/cli.rs
info:
  program: tool
  args: [-n, "3", data/x]
  env: {V: "1"}
  stdin: "in\\n"
---
success: false
exit_code: 2
----- stdout -----
out

----- stderr -----
bad
"""


def test_a_command_snapshot_tells_words_variables_stdin_and_streams():
    ((one,), skipped) = mine("snapshots", {b"t/snapshots/a.snap": SNAP, b"t/data/x": b"X"})
    assert (one.case.argv, one.case.env, one.case.stdin) == ((b"-n", b"3", b"data/x"), ((b"V", b"1"),), b"in\n")
    assert [f.path for f in one.case.files] == [b"data/x"]
    assert agreement(one.recorded, done(b"out\n", b"bad\n", 2)) == "agree"
    assert agreement(one.recorded, done(b"out\n", b"bad\n", 1)) == "disagree"
    assert skipped == {}


def test_a_plain_snapshot_has_an_input_file_or_no_command():
    plain = b"---\nsource: t.rs\nexpression: output\ninput_file: ex/a.nbt\n---\n42\n"
    found, skipped = mine("snapshots", {b"lib/t/snapshots/a.snap": plain, b"lib/ex/a.nbt": b"6*7"})
    assert [(m.template, m.case.argv, m.case.stdin) for m in found] == [
        ("operand", (b"a.nbt",), b""),
        ("stdin", (), b"6*7"),
    ]
    assert {m.recorded.stdout for m in found} == {b"42\n"}
    files = {
        b"a.snap": b"---\nsource: x\n---\nbody\n",
        b"b.snap": b"no head\n",
        b"c.snap": plain,
        b"d.snap": SNAP.replace(b"program: tool", b"program: /x/other"),
        b"e.snap": b"---\na: &a [*a, *a]\nb: {x: *a\n---\n",
        b"f.snap": plain.replace(b"ex/a.nbt", b"../../etc/passwd"),
    }
    found, skipped = mine("snapshots", files)
    assert found == []
    assert skipped == {"no_argv": 1, "bad_table": 2, "missing_file": 2, "other_program": 1}


SCRIPT = b"""# about
env V=1
stdin in.txt
tool -a 'it''s' $V sub/f
stdout 'x[0-9]+'
! exec tool -b missing
cmp stderr want
exec tool -o made sub/f
tool made
[unix] tool never
tool -z ${UNKNOWN}
other cmd
cd elsewhere
tool lost

-- in.txt --
fed
-- sub/f --
F
-- want --
error
"""


def test_a_testscript_states_files_stdin_signs_and_what_comes_out():
    found, skipped = mine("testscript", {b"cmd/testdata/a.txt": SCRIPT})
    assert [m.case.argv for m in found] == [
        (b"-a", b"it's", b"1", b"sub/f"),
        (b"-b", b"missing"),
        (b"-o", b"made", b"sub/f"),
    ]
    first, second, _ = found
    assert (first.case.stdin, first.case.env) == (b"fed\n", ((b"V", b"1"),))
    assert {f.path for f in first.case.files} == {b"in.txt", b"sub/f"}
    assert agreement(first.recorded, done(b"a x12\n")) == "agree"
    assert agreement(first.recorded, done(b"a xx\n")) == "disagree"
    assert (second.recorded.fails, second.recorded.stderr) == (True, b"error\n")
    assert skipped == {"chained": 2, "conditional": 1, "not_simple": 1}


def test_archives_elsewhere_or_that_lead_outside_are_no_tests():
    assert mine("testscript", {b"doc/a.txt": SCRIPT}) == ([], {})
    assert mine("testscript", {b"a.txtar": b"tool x\n-- ../up --\n"})[1] == {"outside_path": 1}
    assert mine("testscript", {b"a.txtar": b"tool 'open\n"})[1] == {"not_simple": 1}
    assert mine("testscript", {b"a.txtar": b"tool " + b"x" * 90_000})[1] == {"line_too_long": 1}
    assert len(mine("testscript", {b"a.txtar": b"tool x\n" + b"-- a --\n" * 5000})[0]) == 1


FEATURE = b"""Feature: f
  Background:
    Given a file named "in.txt" with:
      \"\"\"
      text
        more
      \"\"\"

  Scenario: exact
    When I run `tool -x in.txt`
    Then the output should contain exactly:
      \"\"\"
      a
      \"\"\"
    And the exit status should be 3

  Scenario: part
    When I run "tool -y"
    Then the output should contain "b"
    And it should fail

  Scenario: own
    Given a server
    When I run `tool -z`

  Scenario: nothing
    Then the exit status should be 0
"""


def test_scenarios_of_known_steps_become_cases():
    (exact, part), skipped = mine("features", {b"f/a.feature": FEATURE})
    assert exact.case.argv == (b"-x", b"in.txt")
    assert [(f.path, f.content) for f in exact.case.files] == [(b"in.txt", b"text\n  more\n")]
    assert agreement(exact.recorded, done(b"a\n", code=3)) == "agree"
    assert agreement(exact.recorded, done(b"ab\n", code=3)) == "disagree"
    assert agreement(part.recorded, done(b"abc\n", code=1)) == "agree"
    assert agreement(part.recorded, done(b"abc\n")) == "disagree"
    assert skipped == {"own_step": 1, "no_call": 1}


def test_a_pattern_that_would_take_for_ever_elsewhere_ends_and_one_that_cannot_be_run_states_nothing():
    from programsmith.records.golden import Recorded

    slow = Recorded(stdout=b"(a+)+$", match="search")
    assert agreement(slow, done(b"a" * 200_000 + b"b")) == "disagree"
    assert agreement(Recorded(stdout=b"(?=a)a", match="search"), done(b"a")) == "absent"
    assert agreement(Recorded(stdout=b"(", match="whole", merged=True), done(b"a", b"b")) == "absent"
