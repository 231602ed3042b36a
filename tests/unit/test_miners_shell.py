from __future__ import annotations

import pytest

from programsmith.miners.base import Skip
from programsmith.miners.shell import simple_command, tool_lookup, words

LOOKUP = tool_lookup("tool", {b"CASEDIR": b"cases/1", b"LIST": b"a b"})


def command(line: bytes):
    return simple_command(line, "tool", LOOKUP)


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        (b"tool a b", (b"a", b"b")),
        (b"./bin/tool 'a b' \"c d\"", (b"a b", b"c d")),
        (b"$TOOL x", (b"x",)),
        (b'"${MY_TOOL}" x', (b"x",)),
        (b"tool ${CASEDIR}/in", (b"cases/1/in",)),
        (b'tool "$LIST"', (b"a b",)),
        (b"tool '|' \"<\" \\; 'a;b' '$x' '*'", (b"|", b"<", b";", b"a;b", b"$x", b"*")),
        (b"tool '' \"\"", (b"", b"")),
        (b'tool "a\\"b" a\\ b "\\n"', (b'a"b', b"a b", b"\\n")),
        (b"tool a # comment", (b"a",)),
        (b"tool a#b", (b"a#b",)),
        (b"tool a \\\n  b", (b"a", b"b")),
        (b"tool \xff\xfe 'caf\xc3\xa9\xa0'", (b"\xff\xfe", b"caf\xc3\xa9\xa0")),
        (b"tool --x='a b'=c", (b"--x=a b=c",)),
        (b'tool "costs 5$" "$"', (b"costs 5$", b"$")),
        (b"tool {a} a{b", (b"{a}", b"a{b")),
    ],
)
def test_words_are_read_as_a_shell_reads_them(line, argv):
    assert command(line).argv == argv


def test_assignments_before_the_tool_become_its_environment_and_later_ones_stay_words():
    found = command(b"A=1 B='x y' tool C=2")
    assert (found.env, found.argv) == (((b"A", b"1"), (b"B", b"x y")), (b"C=2",))


@pytest.mark.parametrize(
    ("line", "stdin"),
    [
        (b"echo a  b | tool -x", b"a b\n"),
        (b"echo -n 'a  b' | tool -x", b"a  b"),
        (b"echo -e 'a\\tb' | tool -x", b"a\tb\n"),
        (b"printf 'a\\n%s\\101\\x42%%' z | tool -x", b"a\nzAB%"),
        (b"printf '\\261\\262' | tool -x", b"\xb1\xb2"),
        (b"tool -x <<< 'word'", b"word\n"),
    ],
)
def test_stated_stdin_is_computed(line, stdin):
    found = command(line)
    assert (found.stdin, found.argv) == (stdin, (b"-x",))


@pytest.mark.parametrize(
    "line", [b"cat in.txt | tool -x", b"tool -x < in.txt", b"<in.txt tool -x", b"cat <in.txt|tool -x"]
)
def test_a_file_on_stdin_is_named(line):
    assert (command(line).stdin_path, command(line).argv) == (b"in.txt", (b"-x",))


def test_merged_streams_are_marked():
    assert command(b"tool a 2>&1").merged
    assert not command(b"tool a 2>/dev/null").merged


@pytest.mark.parametrize(
    "line",
    [
        b"tool a; tool b",
        b"tool a && tool b",
        b"tool a || true",
        b"tool a &",
        b"(tool a)",
        b"tool $(date)",
        b"tool `date`",
        b'tool "$(date)"',
        b"tool $UNKNOWN",
        b"tool $LIST",
        b"tool *.txt",
        b"tool a?",
        b"tool [ab]",
        b"tool ~/x",
        b"tool {a,b}",
        b"tool {1..3}",
        b"tool 'open",
        b'tool "open',
        b"tool a > out",
        b"tool a >> out",
        b"tool a 2> err",
        b"tool << EOF",
        b"tool a\ntool b",
        b"! tool a",
        b"cat a b | tool",
        b"cat a | sort | tool",
        b"sort a | tool",
        b"echo 'a\\tb' | tool",
        b"printf '%d' 3 | tool",
        b"printf '%s' | tool",
        b"echo a | tool < b",
        b"tool $'a'",
        b"tool ${X:-y}",
        b"",
        b"tool \\",
        b"tool <",
    ],
)
def test_whatever_needs_a_shell_is_refused(line):
    with pytest.raises(Skip, match=r"^not_simple$"):
        command(line)


@pytest.mark.parametrize("line", [b"other a", b"toolbox a", b"tool a | sort", b"env tool a"])
def test_another_program_is_refused_by_its_own_word(line):
    with pytest.raises(Skip, match=r"^other_program$|^not_simple$"):
        command(line)


def test_words_may_span_lines_but_hold_no_operator():
    assert words(b"-a\n'b c' # x\n-d\n", LOOKUP) == (b"-a", b"b c", b"-d")
    with pytest.raises(Skip):
        words(b"-a | b", LOOKUP)
