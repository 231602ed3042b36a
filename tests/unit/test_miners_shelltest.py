from __future__ import annotations

from tests.samples.mine import mine


def read(text, **files):
    found, skipped = mine("shelltest", {b"t/a.test": text, **{k.encode(): v for k, v in files.items()}})
    return [(m.case.argv, m.case.stdin, m.recorded.stdout, m.recorded.exit_code) for m in found], skipped, found


def test_format_1_states_everything_after_the_command():
    text = b"# one\n tool -a\n<<<\nA\n\n>>>\nB\n>>>2\nE\n>>>= 1\n\n# two\ntool -b\n>>> /x+/ # why\n>>>=!0\n# end"
    tests, skipped, found = read(text)
    assert tests == [((b"-a",), b"A\n\n", b"B\n", 1), ((b"-b",), b"", b"x+", None)]
    assert found[0].recorded.stderr == b"E\n"
    assert (found[1].recorded.match, found[1].recorded.fails) == ("search", True)
    assert skipped == {}


def test_formats_2_and_3_share_input_among_commands_and_take_signs_or_none():
    two = b"<<<\nfoo\n$$$ tool -a\n>>>\nfoo\n\n# next\n$$$ tool -b\n>>>2 /un|il/\n>>>= !0\n\n$$$ tool -c\n>>>\n\n>>>2\n"
    tests, _, found = read(two)
    assert tests == [
        ((b"-a",), b"foo\n", b"foo\n", None),
        ((b"-b",), b"foo\n", b"", None),
        ((b"-c",), b"foo\n", b"", None),
    ]
    assert found[1].recorded.fails is True
    three = b"foo\nbar\n$ tool -a\nout\n>2\nerr\n>= 2\n\n<\nother\n$ tool -b\n"
    tests, _, found = read(three)
    assert tests == [((b"-a",), b"foo\nbar\n", b"out\n", 2), ((b"-b",), b"other\n", b"", None)]
    assert found[0].recorded.stderr == b"err\n"


def test_other_programs_and_shells_are_counted_and_other_formats_left_alone():
    _, skipped, _ = read(b"$ other -a\n$ tool $(x)\n$ ./wrap.sh tool\n")
    assert skipped == {"other_program": 2, "not_simple": 1}
    assert read(b"a program\ninput\noutput\n")[:2] == ([], {})
    assert read(b"$ tool -f t/x < t/in\r\nout\r\n", **{"t/x": b"X", "t/in": b"I"})[0] == [
        ((b"-f", b"t/x"), b"I", b"out\n", None)
    ]


def test_a_hostile_file_is_read_in_one_pass():
    found, _, _ = read(b"$ tool /" + b"a" * 20_000 + b"\n" + b">\n" * 20_000 + b"/" * 20_000)
    assert len(found) == 1
    assert read(b"$ tool " + b"a" * 9_000_000)[1] == {"line_too_long": 1}
