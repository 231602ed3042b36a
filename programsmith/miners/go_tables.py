"""Go table tests: rows of composite literals whose fields are string literals, read from the syntax tree.

A row with `args` states its words. One with an expression, a program or a query states what the tool interprets, and
perhaps a document that it is fed: whether the command line takes it so is settled by agreement with the oracle.
Fields that are computed are never guessed; a row that needs one is counted `not_literal`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from programsmith.miners.base import MineContext, Skip, folder_of, show
from programsmith.miners.fixtures import Fixtures, ancestors
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import MinedCase, Recorded
from programsmith.sources.tree import SourceTree

if TYPE_CHECKING:
    from tree_sitter import Node

_SUFFIX = b"_test.go"
_ARGS = ("args", "argv", "arguments", "cmdargs")
_PROGRAM = ("expression", "program", "query", "expr", "script")
_STDIN = ("stdin", "input", "document", "in")
_STDOUT = ("expected", "want", "stdout", "output", "out", "wantout", "expect")
_CODE = ("exitcode", "code", "exit", "wantcode")
_MAX_FILE, _MAX_ROWS = 1 << 20, 5000
_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
Value = bytes | tuple[bytes, ...] | None


class GoTables:
    """The miner."""

    name = "go_tables"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every row of every test file."""
        fixtures = Fixtures(tree, context.limits)
        for entry in tree.files(_SUFFIX):
            if len(entry.content) > _MAX_FILE:
                context.skipped["page_too_large"] += 1
                continue
            for line, row in read_rows(entry.content):
                try:
                    yield from _cases(entry, line, row, fixtures, context)
                except Skip as skip:
                    context.skipped[str(skip)] += 1


def read_rows(text: bytes) -> list[tuple[int, dict[str, Value]]]:
    """(line, fields) of every literal that names what a row of such a test has; None for a field that is computed."""
    import tree_sitter_go
    from tree_sitter import Language, Parser

    found: list[tuple[int, dict[str, Value]]] = []
    waiting = [Parser(Language(tree_sitter_go.language())).parse(text).root_node]
    while waiting and len(found) < _MAX_ROWS:
        node = waiting.pop()
        if node.type == "literal_value":
            row = {key: value for child in node.children for key, value in _field(child)}
            if any(k in row for k in _ARGS + _PROGRAM) and any(k in row for k in _STDIN + _STDOUT + _CODE):
                found.append((node.start_point[0] + 1, row))
                continue
        waiting.extend(reversed(node.children))
    return found


def _field(node: Node) -> Iterator[tuple[str, Value]]:
    """Name, in lower case, and value of a keyed element."""
    if node.type != "keyed_element" or len(node.named_children) != 2:  # noqa: PLR2004 - key and value
        return
    key, value = node.named_children
    yield (key.text or b"").decode("utf-8", "replace").lower(), _value(value)


def _value(node: Node) -> Value:
    """A string, a list of strings, or None for anything else."""
    node = _inner(node)
    body = node.child_by_field_name("body") if node.type == "composite_literal" else None
    if body is None:
        return _scalar(node)
    parts = [_scalar(_inner(child)) for child in body.named_children if child.type != "comment"]
    words = tuple(part for part in parts if part is not None)
    return words if len(words) == len(parts) else None


def _inner(node: Node) -> Node:
    return node.named_children[0] if node.type == "literal_element" and node.named_children else node


def _scalar(node: Node) -> bytes | None:
    text = node.text or b""
    if node.type == "raw_string_literal":
        return text[1:-1].replace(b"\r", b"")
    if node.type == "interpreted_string_literal":
        return _ESCAPE.sub(_unescape, text[1:-1])
    if node.type == "int_literal":
        return text
    return None


def _unescape(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        return bytes([int(match[1], 16)])
    if match[4] is not None:
        return bytes([int(match[4], 8) & 0xFF])
    code = match[2] or match[3]
    if code is not None:
        number = int(code, 16)
        return chr(number).encode("utf-8", "replace") if number <= 0x10FFFF else b"?"  # noqa: PLR2004 - Unicode's end
    return _ESCAPES.get(match[5], match[5])


def _cases(
    entry: FileEntry, line: int, row: Mapping[str, Value], fixtures: Fixtures, context: MineContext
) -> Iterator[MinedCase]:
    args, program = _first(row, _ARGS), _first(row, _PROGRAM)
    stdin = _text(row, _STDIN) or b""
    if args is not None:
        argv = _words(args, context.tool.encode())
        forms = [("", Case(argv=argv, stdin=stdin))]
    else:
        if not isinstance(program, bytes) or b"\0" in program:
            raise Skip("not_literal")
        argv = (program,)
        forms = [("operand", Case(argv=argv, stdin=stdin)), ("flag_e", Case(argv=(b"-e", *argv), stdin=stdin))]
    files = tuple(sorted(fixtures.named_by(argv, ancestors(folder_of(entry.path))).values())) if args else ()
    for template, case in forms:
        yield MinedCase(
            case=Case(argv=case.argv, stdin=case.stdin, files=files),
            provenance=context.provenance(GoTables.name, entry, line),
            group=f"{show(entry.path)}:{line}",
            recorded=_recorded(row),
            template_set=f"{GoTables.name}:{show(entry.path)}" if template else "",
            template=template,
            source=f"{show(entry.path)}:{line}",
        )


def _words(args: Value, tool: bytes) -> tuple[bytes, ...]:
    if not isinstance(args, tuple) or any(b"\0" in word for word in args):
        raise Skip("not_literal")
    return args[1:] if args[:1] == (tool,) else args


def _recorded(row: Mapping[str, Value]) -> Recorded:
    code = _first(row, _CODE)
    number = int(code) if isinstance(code, bytes) and code.isdigit() and len(code) <= 3 else None  # noqa: PLR2004
    return Recorded(stdout=_text(row, _STDOUT), exit_code=number)


def _text(row: Mapping[str, Value], names: tuple[str, ...]) -> bytes | None:
    """A text, or the lines of a list. Raises Skip where it is computed."""
    if not any(name in row for name in names):
        return None
    value = _first(row, names)
    if value is None:
        raise Skip("not_literal")
    return value if isinstance(value, bytes) else b"".join(line.rstrip(b"\n") + b"\n" for line in value)


def _first(row: Mapping[str, Value], names: tuple[str, ...]) -> Value:
    return next((row[name] for name in names if row.get(name) is not None), None)
