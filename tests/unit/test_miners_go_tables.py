from __future__ import annotations

from tests.samples.mine import mine

ROWS = rb"""package x
var a = []row{
	{name: "one", args: []string{"tool", "-x", "a\tb\x41\u00e9"}, stdin: `raw\n`, expected: "o\n", exitCode: 2},
	{Args: []string{"t/f"}, Want: []string{"l1", "l2"}},
	{args: []string{"-y", compute()}, expected: "o"},
	{args: []string{"-z"}, expected: fmt.Sprint("o")},
	{expression: ".a", document: "a: 1", expected: []string{"1\n"}, skip: true},
	{path: "x", expected: "no call"},
}
"""


def test_rows_of_literals_are_read_and_computed_ones_counted():
    found, skipped = mine("go_tables", {b"t/a_test.go": ROWS, b"t/t/f": b"F", b"t/a.go": ROWS})
    first, second, *forms = found
    assert first.case.argv == (b"-x", b"a\tbA\xc3\xa9")
    assert (first.case.stdin, first.recorded.stdout, first.recorded.exit_code) == (b"raw\\n", b"o\n", 2)
    assert first.provenance.line == 3
    assert [f.path for f in second.case.files] == [b"t/f"]
    assert second.recorded.stdout == b"l1\nl2\n"
    assert [(m.template, m.case.argv, m.case.stdin) for m in forms] == [
        ("operand", (b".a",), b"a: 1"),
        ("flag_e", (b"-e", b".a"), b"a: 1"),
    ]
    assert len({m.template_set for m in forms}) == 1
    assert skipped == {"not_literal": 2}


def test_broken_deep_and_large_files_end():
    deep = b"package x\nvar a = R{args: " + b"[]T{" * 3000 + b"}" * 3000 + b', want: "x"}\n'
    found, skipped = mine("go_tables", {b"a_test.go": deep, b"b_test.go": b"\xff\0{"})
    assert (found, skipped) == ([], {"not_literal": 1})
    assert mine("go_tables", {b"a_test.go": b"x" * ((1 << 20) + 1)})[1] == {"page_too_large": 1}
