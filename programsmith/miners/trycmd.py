"""trycmd and snapbox: `.toml` files with `bin.name`, and pages of fenced `console` blocks with `$` and `?` lines.

`name.in` beside a file is the folder that it runs in. In what comes out `[..]` stands for anything within a line, a
line of `...` for any lines, `[EXE]` for the suffix of executables; other names in brackets leave the output out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from programsmith.miners.base import MineContext, Skip, exit_code_of, folder_of, show
from programsmith.miners.doc_blocks import Block, blocks
from programsmith.miners.fixtures import Fixtures, laid
from programsmith.miners.invocation import Invocations
from programsmith.miners.patterns import ANY_LINES, holed, whole
from programsmith.miners.shell import tool_lookup, words
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_NAMED = re.compile(rb"\[[A-Z][A-Z_]+\]")
_STATUS: dict[bytes, tuple[int | None, bool | None]] = {b"success": (0, None), b"failed": (None, True)}
_CONSOLE = (b"console", b"trycmd")


class TryCmd:
    """The miner."""

    name = "trycmd"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every `.toml` with `bin.name` and of every `.trycmd` page."""
        reader = _Reader(context, tree, Fixtures(tree, context.limits))
        for entry in tree.files(b".toml"):
            if b"bin.name" in entry.content or b"[bin]" in entry.content:
                yield from reader.counted(entry)
        for entry in tree.files():
            if entry.path.endswith((b".trycmd", b".md")) and b"```" in entry.content:
                own = reader.beside(entry)
                if entry.path.endswith(b".trycmd") or own:
                    yield from reader.page(entry, own)


class _Reader:
    def __init__(self, context: MineContext, tree: SourceTree, fixtures: Fixtures) -> None:
        self._context, self._tree, self._fixtures = context, tree, fixtures
        self._reads = Invocations(context, fixtures)

    def counted(self, entry: FileEntry) -> Iterator[MinedCase]:
        """The case of one `.toml`; a refusal is counted."""
        try:
            yield self._table(entry)
        except Skip as skip:
            self._context.skipped[str(skip)] += 1

    def beside(self, entry: FileEntry) -> dict[bytes, FileEntry]:
        """Files of the folder `name.in` beside a file, by the path at which they are laid."""
        folder = entry.path.rpartition(b".")[0] + b".in"
        found = {e.path[len(folder) + 1 :]: e for e in self._tree.below(folder) if e.kind == "file"}
        return {path: laid(e, path) for path, e in found.items()}

    def _table(self, entry: FileEntry) -> MinedCase:
        if len(entry.content) > self._context.limits.table_bytes:
            raise Skip("table_too_large")
        try:
            said = tomllib.loads(entry.content.decode("utf-8"))
        except (ValueError, RecursionError) as fault:
            raise Skip("bad_table") from fault
        if _at(said, "bin", "name") != self._context.tool:
            raise Skip("other_program")
        if _at(said, "fs", "cwd") not in (None, ".") or _at(said, "fs", "base") is not None:
            raise Skip("own_folder")
        own = self.beside(entry)
        self._fixtures.check(own.values())
        code, fails = _status(said.get("status"))
        return MinedCase(
            case=Case(
                argv=self._argv(said.get("args", [])),
                stdin=self._stream(entry, said, "stdin") or b"",
                env=tuple(sorted((_bytes(k), _bytes(v)) for k, v in (_at(said, "env", "add") or {}).items())),
                files=tuple(sorted(own.values())),
            ),
            provenance=self._context.provenance(TryCmd.name, entry, 1),
            group=show(entry.path),
            recorded=_recorded(self._stream(entry, said, "stdout"), code, fails=fails),
        )

    def _argv(self, args: Any) -> tuple[bytes, ...]:
        if isinstance(args, str):
            return words(_bytes(args), tool_lookup(self._context.tool, {}))
        if not isinstance(args, list):
            raise Skip("not_text")
        return tuple(_bytes(a) for a in args)

    def _stream(self, entry: FileEntry, said: dict[str, Any], name: str) -> bytes | None:
        """What the table says, else the file beside it."""
        if name in said:
            return _bytes(said[name], nul=True)
        beside = self._tree.get(entry.path.rpartition(b".")[0] + b"." + name.encode())
        return beside.content if beside is not None and beside.kind == "file" else None

    def page(self, entry: FileEntry, own: dict[bytes, FileEntry]) -> Iterator[MinedCase]:
        """Cases of the console blocks of a page. Later commands may need earlier ones where files change."""
        for block in blocks(entry.content):
            if block.info.split(b",")[0].split(b" ")[0] not in _CONSOLE or b"ignore" in block.info:
                continue
            for line, command, status, output in _told(block):
                try:
                    call = self._reads.of(command, folder_of(entry.path), own)
                    code, fails = _STATUS.get(status, (exit_code_of(status), None))
                    yield MinedCase(
                        case=call.case,
                        provenance=self._context.provenance(TryCmd.name, entry, line),
                        group=f"{show(entry.path)}:{line}",
                        recorded=_recorded(output, code, fails=fails, merged=True),
                    )
                except Skip as skip:
                    self._context.skipped[str(skip)] += 1


def _told(block: Block) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    """(line, command, status, output) of each `$` line of a block."""
    starts = [n for n, line in enumerate(block.lines) if line.startswith(b"$ ")]
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        rest, command = block.lines[start + 1 : end], block.lines[start][2:]
        while rest and rest[0].startswith(b"> "):
            command += b"\n" + rest.pop(0)[2:]
        status = rest.pop(0)[2:].strip() if rest and rest[0].startswith(b"? ") else b"success"
        while rest and not rest[-1].strip():
            rest.pop()
        yield block.line + start, command, status, b"".join(line + b"\n" for line in rest)


def _recorded(output: bytes | None, code: int | None, *, fails: bool | None, merged: bool = False) -> Recorded:
    text = output.replace(b"[EXE]", b"") if output is not None else None
    if text is None or _NAMED.search(text):
        return Recorded(exit_code=code, fails=fails)
    if b"[..]" not in text and b"...\n" not in text:
        return Recorded(stdout=text, exit_code=code, fails=fails, merged=merged)
    lines = [ANY_LINES if line == b"..." else holed(line) for line in text.splitlines()]
    return Recorded(stdout=whole(lines), exit_code=code, fails=fails, match="whole", merged=merged)


def _status(said: Any) -> tuple[int | None, bool | None]:
    if isinstance(said, dict):
        code = said.get("code")
        return (code, None) if isinstance(code, int) else (None, None)
    return _STATUS.get(str(said).encode(), (None, None)) if said is not None else (0, None)


def _at(said: dict[str, Any], *keys: str) -> Any:
    value: Any = said
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _bytes(value: Any, *, nul: bool = False) -> bytes:
    if not isinstance(value, str) or ("\0" in value and not nul):
        raise Skip("not_text")
    return value.encode("utf-8")
