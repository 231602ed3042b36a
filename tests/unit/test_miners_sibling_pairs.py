from __future__ import annotations

from programsmith.miners.fixtures import Fixtures
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


def test_the_driver_of_a_folder_gives_templates_before_those_that_are_guessed():
    pairs = {b"t/d/%d.%s" % (n, x): b"%d" % n for n in (1, 2) for x in (b"in", b"ok")}
    drivers = {
        b"t/Makefile": b"%.out: %.in\n\t@$(TOOL) --strict $< -q > $@\n\t./tool $(X) $< $@\n# tool --never $f\n",
        b"t/d/run.sh": b'for f in *.in; do ./tool -v < "$f" | diff - $f.ok; ./tool `x` $f; other $f; tool -I$f; done\n',
        b"elsewhere/run.sh": b"tool --far $f\n",
    }
    found, skipped = mine("sibling_pairs", pairs | drivers)
    first = [m for m in found if m.source == "t/d/1"]
    assert [(m.case.argv, m.case.stdin) for m in first] == [
        ((b"-v",), b"1"),
        ((b"--strict", b"1.in", b"-q"), b""),
        ((), b"1"),
        ((b"1.in",), b""),
    ]
    assert len({m.template for m in first}) == 4
    assert len({m.template_set for m in found}) == 1
    assert skipped == {}


def test_what_is_expected_may_be_named_after_the_whole_input():
    files = {b"a.x": b"A", b"a.x.golden": b"1", b"b.x": b"B", b"b.x.golden": b"2", b"c.golden": b"3"}
    found, skipped = mine("sibling_pairs", files)
    assert [(m.source, m.case.stdin, m.recorded.stdout) for m in found if m.template == "stdin"] == [
        ("a.x", b"A", b"1"),
        ("b.x", b"B", b"2"),
    ]
    assert found[1].case.argv == (b"a.x",)
    assert skipped == {}


def test_of_many_pairs_of_unknown_suffixes_each_file_may_be_made_of_the_other():
    files = {b"test/cases/%d.%s" % (n, s): s + b"%d" % n for n in range(5) for s in (b"styl", b"css", b"map")}
    del files[b"test/cases/4.map"]
    found, _ = mine("sibling_pairs", files | {b"test/cases/lone.css": b""}, options=("-u",))
    of_one = [m for m in found if m.provenance.path == b"test/cases/3.styl"]
    assert [(m.template, m.case.argv, m.case.stdin, m.recorded.stdout) for m in of_one] == [
        ("stdin", (), b"styl3", b"css3"),
        ("operand", (b"3.styl",), b"", b"css3"),
        ("operand -u", (b"-u", b"3.styl"), b"", b"css3"),
    ]
    assert {m.template_set for m in found} == {
        "sibling_pairs:test/cases:.css .styl",
        "sibling_pairs:test/cases:.styl .css",
    }
    assert mine("sibling_pairs", {p.replace(b"test/cases", b"src"): c for p, c in files.items()})[0] == []


def test_of_two_unknown_suffixes_json_is_meant_as_values():
    files = {b"testdata/%d.%s" % (n, s): b"{}" for n in range(5) for s in (b"gron", b"json")}
    found, _ = mine("sibling_pairs", files)
    assert {(m.provenance.path[-4:], m.recorded.match) for m in found} == {(b"gron", "json"), (b"json", "trimmed")}


def test_a_pair_of_markup_is_meant_as_tags():
    files = {b"test/%d.%s" % (n, s): b"" for n in range(5) for s in (b"md", b"html")}
    found, _ = mine("sibling_pairs", files)
    assert {(m.provenance.path[-2:], m.recorded.match) for m in found} == {(b"md", "markup"), (b"ml", "trimmed")}


def test_a_recorded_stderr_alone_makes_a_test():
    files = {b"t/a.asm": b"A", b"t/a.err": b"bad", b"t/b.asm": b"B", b"t/b.err": b"", b"t/b.out": b"2"}
    found, skipped = mine("sibling_pairs", files | {b"t/c.err": b"", b"t/c.out": b"", b"t/d.err": b""})
    assert {(m.source, m.case.stdin, m.recorded.stdout, m.recorded.stderr) for m in found if not m.case.argv} == {
        ("t/a", b"A", None, b"bad"),
        ("t/b", b"B", b"2", b""),
    }
    assert skipped == {}


def test_settings_beside_an_input_are_handed_over_by_the_option_that_names_them():
    files = {
        b"t/a.html": b"A", b"t/a.out": b"1", b"t/a.cfg": b"x: 1", b"t/a.msg": b"<log/>",
        b"t/b.html": b"B", b"t/b.out": b"2",
        b"t/c.cfg": b"C", b"t/c.out": b"3",
        b"t/default.cfg": b"y: 2",
    }  # fmt: skip
    found, skipped = mine("sibling_pairs", files, options=("--config", "--color", "-q"))
    with_settings = {m.source: m.case for m in found if m.template == "operand --config SETTINGS"}
    assert {source: case.argv for source, case in with_settings.items()} == {
        "t/a": (b"--config", b"a.cfg", b"a.html"),
        "t/b": (b"--config", b"default.cfg", b"b.html"),
        "t/c": (b"--config", b"default.cfg", b"c.cfg"),
    }
    assert {f.path: f.content for f in with_settings["t/a"].files} == {b"a.cfg": b"x: 1", b"a.html": b"A"}
    assert {m.template for m in found} == {"operand --config SETTINGS", "stdin", "operand"}
    assert skipped == {}


def test_a_stem_without_settings_is_run_without_where_there_are_none_for_all():
    files = {b"a.x": b"A", b"a.out": b"", b"a.ini": b"", b"b.x": b"B", b"b.out": b""}
    found, _ = mine("sibling_pairs", files, options=("-c",))
    assert [m.case.argv for m in found if m.template == "operand -c SETTINGS"] == [(b"-c", b"a.ini", b"a.x"), (b"b.x",)]
    settled = mine("sibling_pairs", {**files, b"b.args": b"-k b.x"}, options=("-c",))[0]
    assert [(m.template, m.case.argv) for m in settled if m.source == "b"] == [("named", (b"-k", b"b.x"))]
    plain = {p: c for p, c in files.items() if p != b"a.ini"}
    assert {m.template for m in mine("sibling_pairs", plain, options=("-c",))[0]} == {"stdin", "operand"}


def test_what_an_input_quotes_lies_beside_it_and_never_what_should_come_out():
    files = {
        b"t/a.asm": b'incbin \'data.bin\'\n.include <sub/c>\n"../up.asm" "a.out" "b" "sub" "no.asm"',
        b"t/a.out": b"1",
        b"t/data.bin": b"\0",
        b"t/sub/c.asm": b'"d.asm" "data.bin"',
        b"t/sub/d.asm": b'"c.asm"',
        b"t/sub/e.asm": b"",
        b"up.asm": b"",
        b"t/b.asm": b"B",
        b"t/b.out": b"2",
    }
    found, _ = mine("sibling_pairs", files)
    laid = {m.template: [f.path for f in m.case.files] for m in found if m.source == "t/a"}
    beside = [b"data.bin", b"sub/c.asm", b"sub/d.asm"]
    assert laid == {"stdin": beside, "operand": [b"a.asm", *beside]}
    assert [m.case.files for m in found if m.source == "t/b" and m.template == "stdin"] == [()]


def test_no_input_brings_what_another_test_should_print():
    """That one may be held out, and this one public; and an answer beside its own input is no test."""
    files = {
        b"t/a.asm": b'"b.out" "right/a.txt" "b.err" "b.inc"',
        b"t/a.out": b"1",
        b"t/right/a.txt": b"1",
        b"t/b.asm": b"B",
        b"t/b.out": b"2",
        b"t/b.err": b"e",
        b"t/b.inc": b"i",
    }
    found, _ = mine("sibling_pairs", files)
    assert {f.path for m in found if m.source == "t/a" for f in m.case.files} == {b"a.asm", b"b.inc"}
    pages = {b"test/%d.%s" % (n, s): b"(%d.html)" % (n ^ 1) for n in range(6) for s in (b"md", b"html")}
    found, _ = mine("sibling_pairs", pages)
    made = [m for m in found if m.provenance.path.endswith(b".md")]
    assert made
    assert all(len(m.case.files) == (m.template != "stdin") for m in made)


def test_a_text_full_of_names_costs_no_more_than_some_lookups(monkeypatch):
    asked = []
    monkeypatch.setattr(Fixtures, "_quoted", lambda _self, name, *_: (asked.append(name), (b"", None))[1])
    text = b" ".join(b"'n%d'" % n for n in range(9000))
    mine("sibling_pairs", {b"t/a.in": text, b"t/a.ok": b"", b"t/b.in": b"", b"t/b.ok": b""})
    assert 0 < len(asked) <= 400


def test_an_input_that_quotes_more_than_a_case_may_bring_is_alone():
    many = {b"t/%d.inc" % n: b"" for n in range(300)}
    quotes = b" ".join(b'"%d.inc"' % n for n in range(300))
    found, skipped = mine("sibling_pairs", {**many, b"t/a.in": quotes, b"t/a.ok": b"", b"t/b.in": b"", b"t/b.ok": b""})
    assert {len(m.case.files) for m in found if m.source == "t/a"} == {0, 1}
    assert skipped == {}


def test_of_many_pairs_one_that_is_too_large_is_left_out():
    files = {b"test/%d.%s" % (n, s): s for n in range(5) for s in (b"md", b"tex")} | {b"test/0.md": b"x" * (2 << 20)}
    found, skipped = mine("sibling_pairs", files)
    assert {m.provenance.path for m in found if m.provenance.path.endswith(b"md")} == {
        b"test/%d.md" % n for n in (1, 2, 3, 4)
    }
    assert skipped == {"fixture_too_large": 1}
