"""Tables: lists of mappings in YAML, JSON or TOML that state arguments, input and what should come out.

Rows inherit from a `defaults` mapping beside their list. Keys are known by several names; a row without arguments is
no test. A `program` is a text that the tool interprets: it is tried as the one operand. Values that are no text are
refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.miners.base import MineContext, Skip, exit_code_of, folder_of, name_of, show
from programsmith.miners.fixtures import Fixtures, ancestors
from programsmith.miners.shell import SimpleCommand, simple_command, tool_lookup, words
from programsmith.miners.table_text import Row, TableError, read_table
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

_SUFFIXES = (b".yaml", b".yml", b".json", b".toml")
_ELSEWHERE = b"bin.name"  # a format that has its own miner
_ARGS = ("args", "argv", "arguments")
_LINE = ("cmd", "command")
_PROGRAM = "program"
_STDIN = ("input", "stdin", "in")
_STDOUT = ("expected", "stdout", "output", "out", "want")
_STDERR = ("error", "stderr")
_CODE = ("exit_code", "exitcode", "status", "code", "returncode")
_DEFAULTS = ("defaults", "default")
_CALLS = (*_ARGS, *_LINE, _PROGRAM)
_EVIDENCE = (*_STDIN, *_STDOUT, *_STDERR, *_CODE)


class Tables:
    """The miner."""

    name = "tables"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every table file."""
        fixtures = Fixtures(tree, context.limits)
        for entry in tree.files():
            if _ELSEWHERE in entry.content and entry.path.endswith(b".toml"):
                continue
            if entry.path.endswith(_SUFFIXES) and any(k.encode() in entry.content for k in _CALLS):
                try:
                    rows = list(_rows(read_table(entry, context.limits), {}))
                except TableError as error:
                    context.skipped[str(error)] += 1
                    continue
                for row in rows:
                    yield from self._row(entry, row, fixtures, context)

    def _row(self, entry: FileEntry, row: Row, fixtures: Fixtures, context: MineContext) -> Iterator[MinedCase]:
        try:
            call = _call(row, context.tool)
            bases = ancestors(folder_of(entry.path))
            files = fixtures.named_by(call.argv, bases) | _own_files(row)
            stdin = _stdin(row, call, fixtures, bases)
            program = _first(row, (_PROGRAM,)) is not None and _first(row, _ARGS + _LINE) is None
            yield MinedCase(
                case=Case(argv=call.argv, stdin=stdin, env=call.env + _env(row), files=tuple(sorted(files.values()))),
                provenance=context.provenance(self.name, entry, row.line),
                group=f"{show(entry.path)}:{_first(row, ('name', 'title')) or row.line}",
                recorded=Recorded() if call.merged else _recorded(row),
                template_set=f"{self.name}:{show(entry.path)}" if program else "",
                template=_PROGRAM if program else "",
                source=f"{show(entry.path)}:{row.line}",
            )
        except Skip as skip:
            context.skipped[str(skip)] += 1


def _rows(value: Any, inherited: Mapping[str, Any]) -> Iterator[Row]:
    """Rows below `value` that state arguments and something that should happen."""
    if isinstance(value, Row):
        defaults: Mapping[str, Any] = next((value[k] for k in _DEFAULTS if isinstance(value.get(k), dict)), {})
        merged = Row({**inherited, **value}, value.line)
        if any(k in value for k in _CALLS) and any(k in merged for k in _EVIDENCE):
            yield merged
            return
        for key, child in value.items():
            if key not in _DEFAULTS:
                yield from _rows(child, {**inherited, **defaults})
    elif isinstance(value, list):
        for child in value:
            yield from _rows(child, inherited)


def _call(row: Row, tool: str) -> SimpleCommand:
    lookup = tool_lookup(tool, {})
    args, line, program = _first(row, _ARGS), _first(row, _LINE), _first(row, (_PROGRAM,))
    if args is None and line is None:
        return SimpleCommand(argv=(_bytes(program),))
    if isinstance(line, str) and args is None:
        return simple_command(_bytes(line), tool, lookup)
    if args is None:
        args = line
    if isinstance(args, str):
        argv = words(_bytes(args), lookup)
    elif isinstance(args, list):
        argv = tuple(_bytes(a) for a in args)
    else:
        raise Skip("not_text")
    if argv and name_of(argv[0]) == tool.encode() and (b"/" in argv[0] or line is not None):
        argv = argv[1:]
    return SimpleCommand(argv=argv)


def _stdin(row: Row, call: SimpleCommand, fixtures: Fixtures, bases: tuple[bytes, ...]) -> bytes:
    stated = _first(row, _STDIN)
    if stated is not None:
        return _text(stated)
    if call.stdin_path is not None:
        return fixtures.read(call.stdin_path, bases)
    return call.stdin or b""


def _env(row: Row) -> tuple[tuple[bytes, bytes], ...]:
    """`env` is a mapping, or a list of NAME=value."""
    stated = row.get("env")
    if stated is None:
        return ()
    pairs = list(stated.items()) if isinstance(stated, dict) else [_pair(p) for p in _list(stated)]
    env = tuple((_bytes(k), _bytes(v)) for k, v in pairs)
    if any(not k or b"=" in k for k, _ in env):
        raise Skip("not_text")
    return env


def _pair(text: Any) -> tuple[str, str]:
    if not isinstance(text, str) or "=" not in text:
        raise Skip("not_text")
    name, _, value = text.partition("=")
    return name, value


def _own_files(row: Row) -> dict[bytes, FileEntry]:
    """`files` maps names to contents."""
    stated = row.get("files")
    if not isinstance(stated, dict):
        return {}
    files = {_bytes(name): FileEntry(_bytes(name), "file", 0o644, _text(body)) for name, body in stated.items()}
    if any(n.startswith(b"/") or b".." in n.split(b"/") or not n for n in files):
        raise Skip("outside_path")
    return files


def _recorded(row: Row) -> Recorded:
    out, err, code = _first(row, _STDOUT), _first(row, _STDERR), _first(row, _CODE)
    number = exit_code_of(_text(code)) if code is not None else None
    if isinstance(out, list):
        lines = b"".join(_text(o) + b"\n" for o in out)
        return Recorded(stdout=lines, exit_code=number, match="json")
    return Recorded(
        stdout=_text(out) if out is not None else None,
        exit_code=number,
        fails=True if err is not None and number is None else None,
        match="bytes",
    )


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[n] for n in names if row.get(n) is not None), None)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Skip("not_text")
    return value


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise Skip("not_text")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise Skip("not_text") from fault


def _bytes(value: Any) -> bytes:
    """Text that may stand in an argument list: no NUL."""
    text = _text(value)
    if b"\0" in text:
        raise Skip("not_text")
    return text
