"""Java source that tells which of its lines are executed: a call before every statement, on the statement's own line.

In: a file's text and a counter of numbers. Out: the text with calls, and the lines that each number stands for. A
statement stands for the lines from its start to where the first block in it begins. Line numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from programsmith.goldens.strength.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCKS = frozenset({"block", "constructor_body", "switch_block_statement_group"})
_OPENS = _BLOCKS | {"class_body", "switch_block"}
_BODIES = frozenset({"if_statement", "for_statement", "enhanced_for_statement", "while_statement", "do_statement"})
_NO_STATEMENT = frozenset({
    "{", "}", ":", ";", "switch_label", "line_comment", "block_comment", "explicit_constructor_invocation",
    "local_class_declaration", "class_declaration", "record_declaration", "enum_declaration", "interface_declaration",
})  # fmt: skip
CALL = b"programsmith.Lines.at(%d);"


@dataclass(frozen=True, slots=True)
class Told:
    """`text` is the file with calls; `lines` has for each of its calls the lines that it stands for."""

    text: bytes
    lines: dict[int, tuple[int, ...]]


def telling(source: bytes, first: int) -> Told:
    """The file with calls that are numbered from `first` on."""
    edits: list[tuple[int, int, bytes]] = []  # position, order at it, text
    lines: dict[int, tuple[int, ...]] = {}
    for number, (node, alone) in enumerate(_statements(parse("java", source)), first):
        lines[number] = _own_lines(node)
        edits.append((node.start_byte, 1, (b"{ " if alone else b"") + CALL % number + b" "))
        if alone:
            edits.append((node.end_byte, 0, b" }"))
    text = bytearray(source)
    for at, _, piece in sorted(edits, reverse=True):
        text[at:at] = piece
    return Told(bytes(text), lines)


def _statements(root: Node) -> Iterator[tuple[Node, bool]]:
    """Every statement, and whether it is a body without braces."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in _BLOCKS:
            yield from ((child, False) for child in node.children if child.type not in _NO_STATEMENT)
        yield from ((body, True) for body in _bare(node))
        stack.extend(reversed(node.children))


def _bare(node: Node) -> list[Node]:
    """The bodies of a statement that are statements without braces."""
    if node.type not in _BODIES:
        return []
    bodies = [node.child_by_field_name(name) for name in ("consequence", "alternative", "body")]
    return [b for b in bodies if b is not None and b.type not in ("block", ";")]


def _own_lines(node: Node) -> tuple[int, ...]:
    """Lines from the start of a statement to the first block or body in it."""
    first, end = node.start_point[0], node.end_point[0]
    stack = [node]
    while stack:
        outer = stack.pop()
        bare = {b.id for b in _bare(outer)}
        for child in outer.children:
            if child.id in bare:
                end = min(end, max(first, child.start_point[0] - 1))
            elif child.type in _OPENS:
                end = min(end, child.start_point[0])
            else:
                stack.append(child)
    return tuple(range(first + 1, end + 2))
