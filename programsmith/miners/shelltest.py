"""shelltestrunner `.test` files in their three formats: commands with input, output, errors and exit code.

Format 1 writes the command at the margin and `<<<`, `>>>`, `>>>2`, `>>>=` after it; formats 2 and 3 write `$$$` or `$`
before it and share one input among the commands that follow. `/text/` is a regular expression that the output holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from programsmith.miners.base import MineContext, Skip, folder_of, show
from programsmith.miners.fixtures import Fixtures
from programsmith.miners.invocation import Invocations
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_MARK = re.compile(rb"(\$\$\$|\$|<<<|<|>>>=|>=|>>>2|>2|>>>|>)[ \t]?(.*)", re.DOTALL)
_PARTS = {b"<<<": "fed", b"<": "fed", b">>>": "out", b">": "out", b">>>2": "err", b">2": "err"}
_CODES, _COMMANDS = (b">>>=", b">="), (b"$$$", b"$")
_REGEX = re.compile(rb"/(.*)/[ \t]*(?:#.*)?", re.DOTALL)
_CODE = re.compile(rb"[ \t]*(!?)[ \t]*(\d{0,3})[ \t]*(?:#.*)?")


@dataclass(slots=True)
class Test:
    """One test. `out` and `err` are lines, None where nothing is said; `code` is the text after the sign."""

    line: int
    command: bytes
    fed: list[bytes]
    out: list[bytes] | None = None
    err: list[bytes] | None = None
    code: bytes | None = None
    parts: dict[str, list[bytes]] = field(default_factory=dict)


class ShellTest:
    """The miner."""

    name = "shelltest"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every `.test` file that has commands of this format."""
        reads = Invocations(context, Fixtures(tree, context.limits))
        for entry in tree.files(b".test"):
            for test in read_tests(entry.content):
                try:
                    yield _case(entry, test, reads, context)
                except Skip as skip:
                    context.skipped[str(skip)] += 1


def read_tests(text: bytes) -> list[Test]:
    """The tests of a file; none where no line bears a sign of the format."""
    lines = list(enumerate(text.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n"), 1))
    marks = [m for _, line in lines if (m := _MARK.fullmatch(line))]
    if any(m[1] in _COMMANDS for m in marks):
        return _with_signs(lines)
    return _at_margin(lines) if any(m[1] in (b">>>=", b">>>", b">>>2") for m in marks) else []


def _with_signs(lines: list[tuple[int, bytes]]) -> list[Test]:  # noqa: C901 - one branch per sign
    """Formats 2 and 3: input, then commands that share it. Lines after a command are its output."""
    tests: list[Test] = []
    fed: list[bytes] = []
    at: list[bytes] | None = None
    for number, line in lines:
        mark = _MARK.fullmatch(line)
        if mark is None and at is not None:
            at.append(line)
        elif mark is None:
            if _says(line, after=bool(tests)):
                fed = at = [line]
        elif mark[1] in _COMMANDS:
            tests.append(Test(number, mark[2], _trimmed(fed)))
            at = tests[-1].out = []
        elif _PARTS.get(mark[1]) == "fed":
            fed = at = []
        elif tests:
            at = _part(tests[-1], mark)
    for test in tests:
        test.out, test.err = (None if part is None else _trimmed(part) for part in (test.out, test.err))
    return tests


def _says(line: bytes, *, after: bool) -> bool:
    """Whether a line outside of every part opens input: blanks do not, nor comments once there was a test."""
    return bool(line.strip()) and not (after and line.startswith(b"#"))


def _part(test: Test, mark: re.Match[bytes]) -> list[bytes] | None:
    """Where the lines after a sign of output, errors or exit code go."""
    if mark[1] in _CODES:
        test.code = mark[2]
        return None
    lines = [mark[2]] if mark[2] else []
    setattr(test, _PARTS[mark[1]], lines)
    return lines


def _at_margin(lines: list[tuple[int, bytes]]) -> list[Test]:
    """Format 1: the command line, then parts up to the exit code."""
    tests: list[Test] = []
    open_test: Test | None = None
    at: list[bytes] | None = None
    for number, line in lines:
        mark = _MARK.fullmatch(line) if open_test else None
        if open_test is None:
            if line.strip() and not line.lstrip().startswith(b"#"):
                open_test, at = Test(number, line.strip(), []), None
                tests.append(open_test)
        elif mark is None:
            if at is not None:
                at.append(line)
        elif mark[1] in _CODES:
            open_test.code, open_test, at = mark[2], None, None
        else:
            at = [mark[2]] if mark[2] else []
            open_test.parts[_PARTS.get(mark[1], "none")] = at
    for test in tests:
        test.fed = test.parts.get("fed", [])
        test.out, test.err = test.parts.get("out"), test.parts.get("err")
    return [t for t in tests if t.code is not None or t.parts]


def _trimmed(lines: list[bytes]) -> list[bytes]:
    """Without blank lines and comments at the end: they part tests."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].startswith(b"#")):
        end -= 1
    return lines[:end]


def _case(entry: FileEntry, test: Test, reads: Invocations, context: MineContext) -> MinedCase:
    fed = b"".join(line + b"\n" for line in test.fed)
    call = reads.of(test.command, folder_of(entry.path), stdin=fed)
    return MinedCase(
        case=call.case,
        provenance=context.provenance(ShellTest.name, entry, test.line),
        group=f"{show(entry.path)}:{test.line}",
        recorded=Recorded() if call.merged else _recorded(test),
    )


def _recorded(test: Test) -> Recorded:
    code = _CODE.fullmatch(test.code) if test.code is not None else None
    number = int(code[2]) if code and code[2] and not code[1] else None
    fails = True if code and code[1] and code[2] in (b"0", b"") else None
    out = b"".join(line + b"\n" for line in test.out) if test.out is not None else None
    err = b"".join(line + b"\n" for line in test.err) if test.err is not None else None
    regex = _REGEX.fullmatch(out.strip()) if out else None
    if err is not None and _REGEX.fullmatch(err.strip()):
        err = None
    return Recorded(
        stdout=regex[1] if regex else out,
        stderr=err,
        exit_code=number,
        fails=fails,
        match="search" if regex else "bytes",
    )
