"""One command line of a test, with the folder that it is told in: the case that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from programsmith.miners.base import MineContext, Skip
from programsmith.miners.fixtures import Fixtures, ancestors
from programsmith.miners.shell import simple_command, tool_lookup
from programsmith.payload.verifier.model import Case, FileEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """A case, and whether its stderr is meant to arrive in its stdout."""

    case: Case
    merged: bool


@dataclass(frozen=True, slots=True)
class Invocations:
    """Reads command lines of one tree."""

    context: MineContext
    fixtures: Fixtures

    def of(
        self,
        line: bytes,
        folder: bytes,
        own: Mapping[bytes, FileEntry] | None = None,
        stdin: bytes | None = None,
        variables: Mapping[bytes, bytes] | None = None,
    ) -> Invocation:
        """The case of a line. `own` are files that the test itself brings, `stdin` what it says is fed. Raises Skip."""
        tool, own = self.context.tool, own or {}
        call = simple_command(line, tool, tool_lookup(tool, variables or {}))
        bases = ancestors(folder)
        named = {p: e for p, e in self.fixtures.named_by(call.argv, bases).items() if p not in own}
        self.fixtures.check([*own.values(), *named.values()])
        if call.stdin_path is not None:
            held = own.get(call.stdin_path)
            fed = held.content if held is not None else self.fixtures.read(call.stdin_path, bases)
        else:
            fed = call.stdin if call.stdin is not None else stdin or b""
        files = tuple(sorted({**named, **own}.values()))
        return Invocation(case=Case(argv=call.argv, stdin=fed, env=call.env, files=files), merged=call.merged)


def own_file(name: bytes, content: bytes) -> FileEntry:
    """A file that a test states in its text. Raises Skip `outside_path`."""
    if not name or name.startswith(b"/") or b".." in name.split(b"/") or b"\0" in name:
        raise Skip("outside_path")
    return FileEntry(name.removeprefix(b"./"), "file", 0o644, content)
