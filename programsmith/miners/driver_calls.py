"""A shell driver that calls one function per test, each with a number, a text and a command line.

`run_test 004 "left to right" "$cmd -L"`: plain assignments before the call are followed, the command must be one
simple call of the tool, and the recorded stdout is the file whose name holds the number. Calls that need a shell are
counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from programsmith.miners.base import MineContext, Skip, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures, ancestors
from programsmith.miners.shell import double_quoted, simple_command, tool_lookup
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_ASSIGN = re.compile(rb"^([A-Za-z_]\w*)=(?:\"((?:[^\"\\]|\\.)*)\"|([^\s\"'`$]*))[ \t]*$")
_ASSIGNED = re.compile(rb"^([A-Za-z_]\w*)=")
_CALL = re.compile(rb"^\w+[ \t]+(\d+)[ \t]+\"[^\"\n]*\"[ \t]+\"((?:[^\"\\]|\\.)*)\"[ \t]*$", re.DOTALL)
_RESULTS = (b"res", b"result", b"out", b"expected", b"")
_MIN_CALLS = 3


class DriverCalls:
    """The miner."""

    name = "driver_calls"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every shell script that holds at least three numbered calls."""
        reader = _Reader(context, Fixtures(tree, context.limits), {name_of(e.path): e for e in tree.files()})
        for script in tree.files(b".sh"):
            lines = list(_logical_lines(script.content))
            if sum(_CALL.match(text) is not None for _, text in lines) >= _MIN_CALLS:
                yield from reader.script(script, lines)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads drivers of one tree. `results` are the tree's files by name."""

    context: MineContext
    fixtures: Fixtures
    results: dict[bytes, FileEntry]

    def script(self, script: FileEntry, lines: list[tuple[int, bytes]]) -> Iterator[MinedCase]:
        """Cases of the calls, with the variables as they stand at each."""
        variables: dict[bytes, bytes] = {}
        for number, text in lines:
            _assign(variables, text, self.context.tool)
            call = _CALL.match(text)
            if call is None:
                continue
            try:
                case, recorded = self._call(script, call, variables)
            except Skip as skip:
                self.context.skipped[str(skip)] += 1
                continue
            yield MinedCase(
                case=case,
                provenance=self.context.provenance(DriverCalls.name, script, number),
                group=f"{show(script.path)}:{number}",
                recorded=recorded,
            )

    def _call(self, script: FileEntry, call: re.Match[bytes], variables: dict[bytes, bytes]) -> tuple[Case, Recorded]:
        tool = self.context.tool
        lookup = tool_lookup(tool, variables)
        command = simple_command(double_quoted(call[2], lookup), tool, lookup)
        bases = ancestors(folder_of(script.path))
        named = self.fixtures.named_by(command.argv, bases)
        path = command.stdin_path
        stdin = self.fixtures.read(path, bases) if path is not None else command.stdin or b""
        case = Case(argv=command.argv, stdin=stdin, env=command.env, files=tuple(sorted(named.values())))
        expected = None if command.merged else self._result(call[1])
        return case, Recorded(stdout=expected.content if expected else None)

    def _result(self, number: bytes) -> FileEntry | None:
        names = (p + number + s for p in _RESULTS for s in (b".txt", b"", b".out"))
        return next((self.results[n] for n in names if n in self.results), None)


def _assign(variables: dict[bytes, bytes], text: bytes, tool: str) -> None:
    """Follow a plain assignment at the left margin; one that needs a shell makes the name unknown."""
    name = _ASSIGNED.match(text)
    if name is None:
        return
    variables.pop(name[1], None)
    match = _ASSIGN.match(text)
    if match:
        with suppress(Skip):
            quoted = match[2]
            value = match[3] if quoted is None else double_quoted(quoted, tool_lookup(tool, variables))
            variables[match[1]] = value


def _logical_lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, those that end in a backslash joined with the next."""
    held, start = b"", 0
    for number, line in enumerate(text.split(b"\n"), 1):
        start = start if held else number
        if line.endswith(b"\\") and not line.endswith(b"\\\\"):
            held += line[:-1]
            continue
        yield start, held + line
        held = b""
