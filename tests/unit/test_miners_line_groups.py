from __future__ import annotations

from programsmith.miners.line_groups import read_groups
from tests.samples.mine import mine

TEXT = b"""# comment

.a
{"a": 1}
1

  # indented comment
.[]
[1,2]
1
2
# ends a group
.x # not a comment
null
null

%%FAIL
{(0):1}
jq: error: no
  more of it

%%FAIL IGNORE MSG
. as [] | null
jq: error: syntax

no_output
null

.b
\xef\xbb\xbf"mark"
"mark"
"""


def test_groups_are_read_as_the_original_runner_reads_them():
    groups = list(read_groups(TEXT))
    assert [(g.line, g.program, g.subject, g.outputs, g.fails) for g in groups] == [
        (3, b".a", b'{"a": 1}', (b"1",), False),
        (8, b".[]", b"[1,2]", (b"1", b"2"), False),
        (13, b".x # not a comment", b"null", (b"null",), False),
        (18, b"{(0):1}", None, (), True),
        (23, b". as [] | null", None, (), True),
        (26, b"no_output", b"null", (), False),
        (29, b".b", b'\xef\xbb\xbf"mark"', (b'"mark"',), False),
    ]


def test_each_group_is_tried_with_each_template_under_one_source():
    found, skipped = mine("line_groups", {b"t/a.test": TEXT})
    assert len(found) == 14
    first = [m for m in found if m.source == "t/a.test:3"]
    assert [(m.template, m.case.argv, m.case.stdin) for m in first] == [
        ("compact", (b"-c", b".a"), b'{"a": 1}\n'),
        ("plain", (b".a",), b'{"a": 1}\n'),
    ]
    assert (first[0].recorded.stdout, first[0].recorded.match) == (b"1\n", "json")
    failing = next(m for m in found if m.provenance.line == 18)
    assert (failing.recorded.fails, failing.recorded.stdout) == (True, None)
    assert skipped == {}


def test_carriage_returns_end_lines_and_do_not_enter_programs():
    assert [g.program for g in read_groups(b".a\r\n1\r\n1\r\n\r\n.b\r\n2\r\n2\r\n")] == [b".a", b".b"]


def test_other_formats_with_the_suffix_and_short_files_are_left_alone():
    shelltest = b"\n".join(b"tool %d\n<<<\nin\n>>>\nout\n>>>= 0\n" % n for n in range(9))
    found, skipped = mine("line_groups", {b"a.test": shelltest, b"b.test": b"a\nb\nc\n", b"c.test": b"prose\n\n" * 9})
    assert (found, skipped) == ([], {"not_line_groups": 3})


def test_a_group_without_input_is_counted_and_its_neighbours_are_kept():
    text = b"".join(b".%d\nnull\n1\n\n" % n for n in range(9)) + b"alone"
    found, skipped = mine("line_groups", {b"a.test": text})
    assert (len(found), skipped) == (18, {"incomplete_group": 1})
