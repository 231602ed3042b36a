from __future__ import annotations

import pytest

from tests.samples.mine import mine, staged


@pytest.fixture(scope="module")
def stage():
    with staged(cpu_seconds=5, wall_seconds=20) as stage:
        yield stage


def script(*lines: bytes) -> bytes:
    return b"#!/bin/bash\n[ -f testing.sh ] && . testing.sh\n" + b"\n".join(lines) + b"\n"


def one_tool(stage, *lines, **more):
    return mine("sourced_tests", {b"tests/tool.test": script(*lines), **more.get("files", {})}, stage=stage)


PAD = (b'testcmd "pad1" "-a" "" "" ""', b'testcmd "pad2" "-b" "" "" ""')


def test_arguments_input_and_stdin_are_decoded_as_echo_e_does(stage):
    found, skipped = one_tool(stage, rb'''testcmd "name" "-x \$'a\tb' input" "o\0101\n" "in\n\x41" "std\n"''', *PAD)
    first = found[0]
    assert first.case.argv == (b"-x", b"a\tb", b"input")
    assert [(f.path, f.content) for f in first.case.files] == [(b"input", b"in\nA")]
    assert first.case.stdin == b"std\n"
    assert first.recorded.stdout == b"oA\n"
    assert (first.provenance.path, first.provenance.line) == (b"tests/tool.test", 3)
    assert [m.case.files for m in found[1:]] == [(), ()]
    assert skipped == {}


def test_loops_and_files_made_between_calls_become_cases_of_their_own(stage):
    found, _ = one_tool(
        stage,
        b'for i in 1 2 3; do echo "row $i" >made; mkdir -p d; testing "n$i" "tool -n $i made" "" "" ""; done',
        b"rm made",
        *PAD,
    )
    assert [(m.case.argv[1], {f.path: f.content for f in m.case.files}) for m in found[:3]] == [
        (b"%d" % n, {b"made": b"row %d\n" % n, b"d": b""}) for n in (1, 2, 3)
    ]
    assert [f.path for f in found[3].case.files] == [b"d"]


def test_what_the_harness_skips_or_runs_under_another_name_is_still_a_test(stage):
    found, skipped = one_tool(
        stage,
        b"optional FEATURE",
        b'toyonly testcmd "only" "-t" "" "" ""',
        b'skipnot false && testcmd "never" "-u" "" "" ""',
        b'testing "other" "cat input" "x" "x" ""',
        b'testing "two" "tool -a; tool -b" "" "" ""',
        *PAD,
    )
    assert [m.case.argv for m in found] == [(b"-t",), (b"-u",), (b"-a",), (b"-b",)]
    assert skipped == {"no_call": 1, "several_calls": 1}


def test_a_record_counts_only_where_the_output_is_that_of_the_call_alone(stage):
    found, _ = one_tool(
        stage,
        rb'testing "piped" "tool a | sort" "o" "" ""',
        rb'testing "more" "tool a b && echo yes" "o" "" ""',
        rb'testing "quiet" "tool c 2>/dev/null" "o" "" ""',
        rb'''testing "quoted" "tool 'a|b;c'" "o" "" ""''',
    )
    assert [m.recorded.stdout for m in found] == [None, None, b"o", b"o"]


def test_scripts_for_several_commands_test_applets(stage):
    files = {
        b"t/cut.test": script(*[b'testcmd "c" "-f %d" "" "" "x"' % n for n in (1, 2, 3)]),
        b"t/wc.tests": script(*[b'testing "w" "wc -%c" "" "" "x"' % c for c in b"lwc"]),
        b"t/box.test": script(*[b'testing "b" "box nl -%c" "" "" "x"' % c for c in b"abc"]),
    }
    found, _ = mine("sourced_tests", files, tool="box", stage=stage)
    assert [m.case.argv for m in found][::3] == [(b"nl", b"-a"), (b"cut", b"-f", b"1"), (b"wc", b"-l")]


def test_files_of_the_tree_are_laid_at_their_own_path_and_no_other_place_may_be_named(stage):
    found, skipped = one_tool(
        stage,
        b'testcmd "f" "\\"\\$FILES/a.txt\\"" "" "" ""',
        b'testcmd "w" "\\$PWD/x" "" "" ""',
        *PAD,
        files={b"tests/files/a.txt": b"A"},
    )
    assert found[0].case.argv == (b"tests/files/a.txt",)
    assert [(f.path, f.content) for f in found[0].case.files] == [(b"tests/files/a.txt", b"A")]
    assert skipped == {"outside_path": 1}


def test_own_variables_odd_bytes_and_links_arrive(stage):
    found, skipped = one_tool(
        stage,
        rb'testing "env" "V=1 tool x" "" "" "\xff\0\n"',
        b'ln -s made link; testcmd "link" "link" "" "" ""; rm link',
        b'ln -s /etc/passwd link; testcmd "out" "link" "" "" ""; rm link',
        b'testcmd "last" "-z" "" "" ""',
    )
    assert (found[0].case.env, found[0].case.stdin) == (((b"V", b"1"),), b"\xff\0\n")
    assert [(f.path, f.kind, f.content) for f in found[1].case.files] == [(b"link", "link", b"made")]
    assert [m.case.argv for m in found] == [(b"x",), (b"link",), (b"-z",)]
    assert skipped == {"link_fixture": 1, "no_call": 1}


def test_a_script_runs_without_privileges_network_or_sight_of_the_host_and_is_ended(stage, tmp_path):
    (tmp_path / "seen").write_text("x")
    found, _ = one_tool(
        stage,
        b"touch /etc/mark %s/mark; cat %s/seen >stolen" % ((str(tmp_path).encode(),) * 2),
        b"echo $(id -u) $(cat /proc/net/dev | wc -l) >who",
        b'testcmd "a" "-a" "" "" ""',
        *PAD,
    )
    files = {f.path: f.content for f in found[0].case.files}
    assert files[b"stolen"] == b""
    assert files[b"who"].split()[0] != b"0"
    assert not (tmp_path / "mark").exists()
    found, _skipped = one_tool(stage, *PAD, b"while :; do :; done", *PAD)
    assert len(found) <= 2


def test_a_script_that_forges_what_the_stubs_note_breaks_nothing(stage):
    forged = (
        b"printf x >/work/out/x.test; printf a >/work/out/900.test; : >/work/out/901.0.argv; mkdir /work/out/902.test"
    )
    found, skipped = one_tool(stage, forged, *PAD, b"__step=90000", b'testcmd "far" "-c" "" "" ""')
    assert [m.case.argv for m in found] == [(b"-a",), (b"-b",), (b"-c",)]
    assert skipped == {"script_limit": 1, "no_call": 2}


def test_without_a_sandbox_every_script_is_counted():
    _, skipped = one_tool(None, *PAD, *PAD)
    assert skipped == {"no_stage": 1}


def test_other_scripts_of_that_name_are_left_alone(stage):
    found, skipped = mine("sourced_tests", {b"a.test": b"a program\ninput\noutput\n"}, stage=stage)
    assert (found, skipped) == ([], {})
