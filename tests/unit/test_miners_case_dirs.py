from __future__ import annotations

import hashlib

from programsmith.records.golden import Recorded
from tests.samples.mine import mine


def test_a_command_folder_becomes_one_case_with_its_streams_and_provenance():
    found, skipped = mine(
        "case_dirs",
        {
            b"t/1/cmd": b"# a comment\n\ntool --from ${CASEDIR}/in -x 'a b'\n",
            b"t/1/in": b"input",
            b"t/1/expout": b"out\n",
            b"t/1/experr": b"",
        },
    )
    (one,) = found
    assert one.case.argv == (b"--from", b"t/1/in", b"-x", b"a b")
    assert [(f.path, f.content) for f in one.case.files] == [(b"in", b"input"), (b"t/1/in", b"input")]
    assert one.recorded == Recorded(stdout=b"out\n", stderr=b"")
    assert (one.provenance.path, one.provenance.line) == (b"t/1/cmd", 3)
    assert one.provenance.blob == hashlib.sha256(b"# a comment\n\ntool --from ${CASEDIR}/in -x 'a b'\n").hexdigest()
    assert one.provenance.licence == "licence of t/1/cmd"
    assert (one.group, skipped) == ("t/1", {})


def test_expected_sides_and_the_command_are_never_laid_beside_the_case():
    found, _ = mine(
        "case_dirs",
        {
            b"t/1/cmd": b"tool x",
            b"t/1/expout": b"secret",
            b"t/1/experr": b"secret",
            b"t/1/should-fail": b"",
            b"t/1/a": b"",
        },
    )
    assert [f.path for f in found[0].case.files] == [b"a"]
    assert found[0].recorded.fails is True


def test_files_named_from_the_root_are_laid_at_the_same_path():
    found, _ = mine(
        "case_dirs",
        {b"t/cases/1/cmd": b"tool cat t/input/abixy", b"t/cases/1/expout": b"", b"t/input/abixy": b"rows"},
    )
    assert [(f.path, f.content) for f in found[0].case.files] == [(b"t/input/abixy", b"rows")]


def test_a_word_that_names_a_file_by_its_stem_brings_the_one_file_that_fits():
    found, _ = mine("case_dirs", {b"t/1/cmd": b"tool -f fonts/big", b"t/1/expout": b"", b"fonts/big.tlf": b"font"})
    assert [f.path for f in found[0].case.files] == [b"fonts/big.tlf"]


def test_a_file_outside_of_the_work_directory_is_refused():
    _, skipped = mine("case_dirs", {b"t/1/cmd": b"tool ../data", b"t/1/expout": b"", b"t/data": b"x"})
    assert skipped == {"outside_path": 1}


def test_fixtures_beyond_the_caps_are_refused():
    many = {b"t/1/d/%d" % n: b"" for n in range(9)}
    _, skipped = mine("case_dirs", {b"t/1/cmd": b"tool d", b"t/1/expout": b"", **many})
    assert skipped == {"fixture_too_large": 1}
    _, skipped = mine("case_dirs", {b"t/1/cmd": b"tool d", b"t/1/expout": b"", b"t/1/d": b"x" * 10_001})
    assert skipped == {"fixture_too_large": 1}


def test_a_script_of_several_commands_is_counted_not_simple():
    _, skipped = mine("case_dirs", {b"t/1/cmd": b"tool a\ntool b\n", b"t/1/expout": b""})
    assert skipped == {"not_simple": 1}


def test_a_missing_stdin_file_is_refused():
    _, skipped = mine("case_dirs", {b"t/1/cmd": b"tool < gone", b"t/1/expout": b""})
    assert skipped == {"missing_file": 1}


def test_args_with_an_input_yield_one_case_per_way_of_handing_it_over():
    found, _ = mine(
        "case_dirs",
        {b"u/a.d/input.c": b"int x;", b"u/a.d/args.tags": b"--sort=no\n-x 'a b'\n", b"u/a.d/expected.tags": b"x\n"},
    )
    by_template = {m.template: m for m in found}
    assert by_template["operand"].case.argv == (b"--sort=no", b"-x", b"a b", b"input.c")
    assert [f.path for f in by_template["operand"].case.files] == [b"input.c"]
    assert (by_template["stdin"].case.stdin, by_template["stdin"].case.files) == (b"int x;", ())
    assert {m.source for m in found} == {"u/a.d"}
    assert len({m.template_set for m in found}) == 1
    assert found[0].recorded.stdout == b"x\n"


def test_args_that_name_the_input_settle_the_invocation():
    found, _ = mine("case_dirs", {b"a/input": b"i", b"a/args": b"-f input", b"a/expected": b"e"})
    assert [(m.case.argv, m.template_set) for m in found] == [((b"-f", b"input"), "")]


def test_a_filter_beside_the_case_keeps_the_input_and_loses_the_record():
    found, _ = mine("case_dirs", {b"a/input.c": b"i", b"a/post.sed": b"s/a/b/", b"a/expected.tags": b"e"})
    assert {m.recorded for m in found} == {Recorded()}
    assert all(f.path != b"post.sed" for m in found for f in m.case.files)


def test_results_named_as_streams_are_read_with_their_exit_code():
    found, _ = mine(
        "case_dirs",
        {
            b"a.d/run.sh": b"#!/bin/sh\n${TOOL} --opt x\n",
            b"a.d/stdout-expected.txt": b"o",
            b"a.d/stderr-expected.txt": b"e",
            b"a.d/exit-expected.txt": b"3\n",
        },
    )
    assert found[0].case.argv == (b"--opt", b"x")
    assert found[0].recorded == Recorded(stdout=b"o", stderr=b"e", exit_code=3)


def test_goldens_with_carriage_returns_stay_as_they_are():
    found, _ = mine("case_dirs", {b"a/cmd": b"tool x\r\n", b"a/expout": b"o\r\n", b"a/in": b"i\r\n"})
    assert found[0].recorded.stdout == b"o\r\n"
    assert found[0].case.argv == (b"x",)
    assert found[0].case.files[0].content == b"i\r\n"


def test_variables_that_the_runner_sets_hold_for_every_case_and_those_beside_it_for_its_own():
    runner = b'const Cmd = "cmd"\nconst Out = "expout"\nos.Setenv("TOOL_OFMT", "%.8f")\nos.Setenv("HOME", "/x")\n'
    files = {
        b"t/1/cmd": b"tool a",
        b"t/1/expout": b"",
        b"t/2/cmd": b"TOOL_OFMT=own tool b",
        b"t/2/expout": b"",
        b"t/2/env": b"TZ=Asia/Tokyo\n",
        b"t/2/out.one.expect": b"secret",
        b"t/2/postcmp": b"out.one.expect out.one\n",
        b"run/regtest.go": runner,
        b"other.go": b'os.Setenv("TOOL_OTHER", "1")',
    }
    one, two = mine("case_dirs", files)[0]
    assert one.case.env == ((b"TOOL_OFMT", b"%.8f"),)
    assert two.case.env == ((b"TOOL_OFMT", b"own"), (b"TZ", b"Asia/Tokyo"))
    assert two.case.files == ()


def test_numbered_calls_of_a_driver_follow_its_variables_to_the_tool():
    driver = b"""#!/bin/sh
CMD=./tool
file="$DIR/input.txt"
DIR=tests
file="$DIR/input.txt"
cmd="cat $file|$CMD"
run_test() {
\ttest_num=$1
}
run_test 001 "helper" "./other"
run_test 002 "loop" "for i in a b; do $cmd -f \\$i; done"
run_test 003 "plain" "$cmd -L"
run_test 004 "split" \\
  "$cmd -k -f tests/emboss"
run_test 005 "bytes" "printf '\\261\\262'|$CMD -Cx"
DIR=`mktemp`
run_test 006 "unknown" "$CMD $DIR"
"""
    found, skipped = mine(
        "driver_calls",
        {
            b"run-tests.sh": driver,
            b"tests/input.txt": b"text",
            b"tests/emboss.tlf": b"font",
            b"tests/res003.txt": b"three",
            b"tests/res005.txt": b"five",
        },
    )
    assert [(m.case.argv, m.case.stdin, m.recorded.stdout, m.provenance.line) for m in found] == [
        ((b"-L",), b"text", b"three", 12),
        ((b"-k", b"-f", b"tests/emboss"), b"text", None, 13),
        ((b"-Cx",), b"\xb1\xb2", b"five", 15),
    ]
    assert [f.path for f in found[1].case.files] == [b"tests/emboss.tlf"]
    assert skipped == {"other_program": 1, "not_simple": 2}
