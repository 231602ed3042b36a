from __future__ import annotations

from tests.samples.mine import mine


def test_a_pair_is_tried_as_stdin_and_as_operand():
    found, skipped = mine("sibling_pairs", {b"t/a.in": b"A", b"t/a.out": b"1", b"t/b.in": b"B", b"t/b.out": b"2"})
    assert [(m.source, m.template, m.case.argv, m.case.stdin, len(m.case.files)) for m in found] == [
        ("t/a", "stdin", (), b"A", 0),
        ("t/a", "operand", (b"a.in",), b"", 1),
        ("t/b", "stdin", (), b"B", 0),
        ("t/b", "operand", (b"b.in",), b"", 1),
    ]
    assert len({m.template_set for m in found}) == 1
    assert (found[0].recorded.stdout, found[0].group, skipped) == (b"1", "t/a", {})


def test_options_streams_and_codes_beside_a_stem_belong_to_it():
    files = {
        b"a.json": b"{}",
        b"a.expected": b"o",
        b"a.args": b"-s 'x y'",
        b"a.err": b"e",
        b"a.code": b"2\n",
        b"b.json": b"{}",
        b"b.expected": b"o",
    }
    found, _ = mine("sibling_pairs", files)
    assert found[0].case.argv == (b"-s", b"x y")
    assert found[1].case.argv == (b"-s", b"x y", b"a.json")
    assert (found[0].recorded.stderr, found[0].recorded.exit_code) == (b"e", 2)
    assert found[2].recorded.exit_code is None


def test_options_that_name_the_input_settle_the_invocation():
    files = {b"a.in": b"A", b"a.ok": b"", b"a.opts": b"-f a.in", b"b.in": b"", b"b.ok": b""}
    found, _ = mine("sibling_pairs", files)
    assert [(m.template, m.template_set) for m in found if m.source == "a"] == [("named", "")]


def test_a_command_file_states_the_invocation():
    files = {
        b"a.cmd": b"tool -n 1 < data.txt",
        b"a.out": b"",
        b"data.txt": b"D",
        b"b.cmd": b"tool; rm x",
        b"b.out": b"",
    }
    found, skipped = mine("sibling_pairs", files)
    assert [(m.case.argv, m.case.stdin, m.template_set) for m in found] == [((b"-n", b"1"), b"D", "")]
    assert skipped == {"not_simple": 1}


def test_an_input_that_cannot_be_told_is_refused():
    files = {b"a.c": b"", b"a.h": b"", b"a.out": b"", b"b.c": b"", b"b.out": b""}
    found, skipped = mine("sibling_pairs", files)
    assert {m.source for m in found} == {"b"}
    assert skipped == {"ambiguous_input": 1}


def test_a_known_input_suffix_wins_over_other_files():
    files = {b"a.in": b"I", b"a.h": b"", b"a.golden": b"", b"b.in": b"", b"b.golden": b""}
    found, _ = mine("sibling_pairs", files)
    assert found[0].case.stdin == b"I"


def test_a_lone_pair_is_no_suite():
    assert mine("sibling_pairs", {b"notes.txt": b"", b"notes.out": b""}) == ([], {"lone_pair": 1})


def test_a_golden_that_was_regenerated_stays_a_cross_check_only():
    found, _ = mine("sibling_pairs", {b"a.in": b"A", b"a.right": b"stale", b"b.in": b"B", b"b.right": b""})
    assert all(f.path != b"a.right" for m in found for f in m.case.files)
    assert found[0].recorded.stdout == b"stale"


def test_hostile_names_stay_bytes():
    found, _ = mine("sibling_pairs", {b"\xff'$.in": b"", b"\xff'$.out": b"", b"b.in": b"", b"b.out": b""})
    operand = next(m for m in found if m.template == "operand" and m.provenance.path.startswith(b"\xff"))
    assert operand.case.argv == (b"\xff'$.in",)
    assert operand.group == "\\xff'$"
