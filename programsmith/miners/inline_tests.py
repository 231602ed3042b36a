"""Files that say in their own comments how they are run: `RUN:` lines, or `TOOL:` and `ARGS:` with what comes out.

`%s` and `%(in_file)s` name the file itself. Recorded streams stand between `STDOUT ;;;` marks. A checker that looks for
parts of the output (FileCheck) leaves the input; a test of several commands, or of another program, is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from programsmith.miners.base import MineContext, Skip, exit_code_of, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures
from programsmith.miners.invocation import Invocations
from programsmith.miners.shell import tool_lookup, words
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_KEY = re.compile(
    rb"[ \t]*(?:;;;|//|;|#|--|/\*|\(\*|<!--|%)[ \t]*(RUN|TOOL|ARGS\d?|STDIN_FILE|ERROR|ENV)(?:-[a-z]+)?:[ \t]*(.*)"
)
_MARK = re.compile(rb"\(?;;[ \t]*(STDOUT|STDERR)[ \t]*;;;[ \t]*|;;;[ \t]*(STDOUT|STDERR)[ \t]*;;\)?[ \t]*")
_CHECKER = re.compile(rb"\|[ \t]*(?:%?\{?)?(?:FileCheck|diff|grep|count|not FileCheck)\b.*", re.DOTALL)
_SELF = (b"%(in_file)s", b"%{s}", b"%s")
_TOOLS = re.compile(rb"%\(([\w.-]+)\)s")
_HEAD = 200  # lines in which keys may stand
_MAX_FILE = 1 << 20


@dataclass(slots=True)
class _Said:
    """What a file says of itself."""

    runs: list[tuple[int, bytes]] = field(default_factory=list)
    keys: dict[bytes, tuple[int, bytes]] = field(default_factory=dict)
    streams: dict[bytes, bytes] = field(default_factory=dict)


class InlineTests:
    """The miner."""

    name = "inline_tests"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every file that says how it is run."""
        reads = Invocations(context, Fixtures(tree, context.limits))
        for entry in tree.files():
            head = entry.content[:8192]
            if b"RUN:" not in head and b"TOOL:" not in head:
                continue
            try:
                found = _case(entry, reads, context)
            except Skip as skip:
                context.skipped[str(skip)] += 1
                continue
            if found is not None:
                yield found


def _case(entry: FileEntry, reads: Invocations, context: MineContext) -> MinedCase | None:
    if len(entry.content) > _MAX_FILE:
        raise Skip("fixture_too_large")
    said = _said(entry.content)
    if not said.runs and b"TOOL" not in said.keys:
        return None
    name = name_of(entry.path)
    own = {name: FileEntry(name, "file", 0o644, entry.content)}
    line, case, checked = _command(said, entry, own, reads, context.tool)
    code = exit_code_of(said.keys.get(b"ERROR", (0, b""))[1])
    streams = {key.lower().decode(): said.streams[key] for key in said.streams}
    stated = bool(said.streams) and not checked
    return MinedCase(
        case=case,
        provenance=context.provenance(InlineTests.name, entry, line),
        group=show(entry.path),
        recorded=Recorded(
            stdout=streams.get("stdout") if stated else None,
            stderr=streams.get("stderr") if stated else None,
            exit_code=code if code is not None else 0 if stated else None,
        ),
    )


def _command(
    said: _Said, entry: FileEntry, own: dict[bytes, FileEntry], reads: Invocations, tool: str
) -> tuple[int, Case, bool]:
    """(line, case, whether its output is only looked at for parts) of the one command. Raises Skip."""
    if len(said.runs) > 1:
        raise Skip("several_calls")
    args = [_named(value, entry) for key, (_, value) in sorted(said.keys.items()) if key.startswith(b"ARGS")]
    if not said.runs:
        line, named = said.keys[b"TOOL"]
        if named != tool.encode():
            raise Skip("other_program")
        argv = (name_of(entry.path), *(w for a in args for w in words(a, tool_lookup(tool, {}))))
        named_files = reads.fixtures.named_by(argv, (folder_of(entry.path),))
        return line, Case(argv=argv, files=tuple(sorted({**named_files, **own}.values()))), False
    line, text = said.runs[0]
    plain = _CHECKER.sub(b"", text).strip()
    command = _TOOLS.sub(lambda m: m[1], _named(plain, entry)).removeprefix(b"not ")
    if b"%" in command:
        raise Skip("not_simple")
    whole = b" ".join([command, *args])
    return line, reads.of(whole, folder_of(entry.path), own).case, plain != text.strip()


def _named(text: bytes, entry: FileEntry) -> bytes:
    for token in _SELF:
        text = text.replace(token, name_of(entry.path))
    return text


def _said(text: bytes) -> _Said:
    said, inside, held = _Said(), b"", [b""]
    for number, line in enumerate(text.split(b"\n"), 1):
        mark = _MARK.fullmatch(line)
        if mark and mark[1] and not inside:
            inside, held = mark[1], []
        elif mark and mark[2] and inside == mark[2]:
            said.streams[inside], inside = b"".join(x + b"\n" for x in held), b""
        elif inside:
            held.append(line)
        elif number <= _HEAD and (key := _KEY.fullmatch(line.rstrip())):
            if key[1] == b"RUN":
                said.runs.append((number, key[2]))
            else:
                said.keys.setdefault(key[1], (number, key[2]))
    return said
