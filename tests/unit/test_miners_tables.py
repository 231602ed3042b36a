from __future__ import annotations

import json

import pytest

from tests.samples.mine import mine

YAML = b"""
defaults: {env: {MODE: strict}}
tests:
  - name: identity
    args: ['.', -c]
    input: '128'
    expected: |
      128
  - name: &base error
    args: "'a b' -x"
    error: |
      boom
    env: [A=1, "B=x=y"]
  - {name: coded, args: [], stdin: "", exit_code: 5, expected: 'y'}
  - {name: typed, args: [yes, 1.0, 0x10, 2001-01-01, ~], expected: ''}
  - {name: listed, args: [[1]], expected: ''}
"""


def test_rows_become_cases_and_scalars_stay_the_text_that_the_file_holds():
    found, skipped = mine("tables", {b"t/a.yaml": YAML})
    assert [m.case.argv for m in found] == [(b".", b"-c"), (b"a b", b"-x"), ()]
    first, second, third = found
    assert (first.case.stdin, first.recorded.stdout) == (b"128", b"128\n")
    assert first.case.env == ((b"MODE", b"strict"),)
    assert (second.case.env, second.recorded.fails) == (((b"A", b"1"), (b"B", b"x=y")), True)
    assert (third.recorded.exit_code, third.recorded.fails) == (5, None)
    assert (first.provenance.line, second.provenance.line) == (4, 9)
    assert skipped == {"not_text": 2}


def test_words_that_yaml_gives_types_are_arguments_as_written():
    found, _ = mine("tables", {b"a.yml": b"- {args: [yes, 1.0, 0x10, 2001-01-01, 010], expected: 1}"})
    assert found[0].case.argv == (b"yes", b"1.0", b"0x10", b"2001-01-01", b"010")
    assert found[0].recorded.stdout == b"1"


def test_anchors_and_merges_are_followed():
    text = b"- &b {args: [a], input: i, expected: e}\n- {<<: *b, args: [b]}\n- {<<: [*b], expected: z}\n"
    found, _ = mine("tables", {b"a.yaml": text})
    assert [(m.case.argv, m.case.stdin, m.recorded.stdout) for m in found] == [
        ((b"a",), b"i", b"e"),
        ((b"b",), b"i", b"e"),
        ((b"a",), b"i", b"z"),
    ]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            b"a: &a [x, x, x, x, x, x, x, x, x]\n"
            + b"".join(
                b"%c: &%c [%s]\n" % (c, c, b", ".join([b"*%c" % (c - 1)] * 9)) for c in range(ord("b"), ord("j"))
            )
            + b"args: 1\n",
            "table_too_large",
        ),
        (b"args: &a [*a]", "table_too_large"),
        (b"args: " + b"[" * 5000, "table_too_deep"),
        (b"args: \xff\xfe", "not_utf8"),
        (b"args: [", "bad_table"),
        (b"args: 'a\x01b'", "bad_table"),
        (b"args: *unknown", "bad_table"),
        (b"args: x" + b" " * 100_001, "table_too_large"),
    ],
)
def test_bombs_loops_and_broken_tables_are_refused_by_word(text, word):
    found, skipped = mine("tables", {b"a.yaml": text})
    assert (found, skipped) == ([], {word: 1})


def test_json_tables_are_read_with_their_defaults_and_files():
    rows = {"default": {"input": "in"}, "cases": [{"args": ["-x"], "expected": 3, "files": {"d/a.txt": "A"}}]}
    found, _ = mine("tables", {b"a.json": json.dumps(rows).encode()})
    (one,) = found
    assert (one.case.argv, one.case.stdin, one.recorded.stdout) == ((b"-x",), b"in", b"3")
    assert [(f.path, f.content) for f in one.case.files] == [(b"d/a.txt", b"A")]


@pytest.mark.parametrize(
    "text", [b'{"args": [' + b"[" * 9000, b'{"args": 1' + b"0" * 9000 + b"}", b'{"args": "\\ud800", "expected": ""}']
)
def test_hostile_json_is_refused_or_left(text):
    found, _ = mine("tables", {b"a.json": text})
    assert found == []


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", ""])
def test_files_outside_of_the_work_directory_are_refused(name):
    found, skipped = mine(
        "tables", {b"a.json": json.dumps([{"args": [], "expected": "", "files": {name: ""}}]).encode()}
    )
    assert (found, skipped) == ([], {"outside_path": 1})


def test_command_lines_go_through_the_strict_parser():
    text = (
        b"- {cmd: 'tool -a x', expected: 1}\n- {cmd: 'tool a | sort', expected: 1}\n- {command: [./tool, y], out: 2}\n"
    )
    found, skipped = mine("tables", {b"a.yaml": text})
    assert [m.case.argv for m in found] == [(b"-a", b"x"), (b"y",)]
    assert skipped == {"other_program": 1}


def test_programs_deep_in_a_document_are_tried_as_the_one_operand():
    text = b"sections:\n - entries:\n   - examples:\n     - {program: '.[0]', input: '[1]', output: ['1', '2']}\n"
    (one,) = mine("tables", {b"docs/manual.yml": text})[0]
    assert (one.case.argv, one.case.stdin, one.template) == ((b".[0]",), b"[1]", "program")
    assert (one.recorded.stdout, one.recorded.match) == (b"1\n2\n", "json")


def test_rows_without_arguments_or_without_evidence_are_no_tests():
    assert mine("tables", {b"a.yaml": b"- {input: x, expected: y}\n- {args: [a], note: z}\n"}) == ([], {})


def test_toml_tables_are_read_with_their_numbers_as_text():
    text = b"[[case]]\nname = 'one'\nargs = ['-x', 'a b']\nstdin = 'in'\nexpected = \"o\\n\"\nexit_code = 3\n"
    found, skipped = mine(
        "tables", {b"t/cases.toml": text, b"t/try.toml": b"bin.name = 'tool'\nargs = ['y']\nstdin = ''"}
    )
    (one,) = found
    assert (one.case.argv, one.case.stdin) == ((b"-x", b"a b"), b"in")
    assert (one.recorded.stdout, one.recorded.exit_code) == (b"o\n", 3)
    assert skipped == {}
    assert mine("tables", {b"a.toml": b"args = ["})[1] == {"bad_table": 1}
    assert mine("tables", {b"Cargo.toml": b"[package]\nname = 'x'\n[profile.dev]\nargs = []\n"})[0] == []
