"""Where a source can tell that it was there: one call per statement, put in by its syntax tree, no line moved.

In: a file's bytes, a language, the number of the first place. Out: the file with calls, and the lines of each place.
What a compiler evaluates (constants, types, patterns) and what macros hide is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from programsmith.goldens.strength.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_CODE = re.compile(rb"\s*(?!//|/\*|\*)[^\n]*\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a language is probed. `lists` hold statements, `values` are nodes whose field `value` is wrapped."""

    call: bytes  # with {} for the place
    lists: frozenset[str]
    other: frozenset[str]  # what stands in a list and is no statement
    leading: frozenset[str]  # what belongs to the statement behind it
    skip: frozenset[str]
    skip_marked: re.Pattern[bytes]  # a subtree behind an attribute or with modifiers that match is left alone
    values: frozenset[str]


GO = Style(
    call=b"programsmithHit({});",
    lists=frozenset({"statement_list"}),
    other=frozenset({"comment", "empty_statement"}),
    leading=frozenset(),
    skip=frozenset({"import_declaration", "const_declaration", "type_declaration"}),
    skip_marked=re.compile(rb"(?!)"),
    values=frozenset(),
)
_ITEMS = ("function", "const", "static", "struct", "enum", "union", "impl", "trait", "mod", "type", "foreign_mod")
RUST = Style(
    call=b'unsafe{extern "C"{fn programsmith_hit(n:u32);}programsmith_hit({})};',
    lists=frozenset({"block"}),
    other=frozenset({f"{item}_item" for item in _ITEMS})
    | {"line_comment", "block_comment", "empty_statement", "use_declaration", "extern_crate_declaration", "label"}
    | {"macro_definition", "inner_attribute_item"},
    leading=frozenset({"attribute_item"}),
    skip=frozenset({"const_item", "static_item", "const_block", "macro_definition", "array_type", "type_arguments"}),
    skip_marked=re.compile(rb"\bcfg\(test\)|^#\[test\]|^(?:\w+\s+)*const\b"),
    values=frozenset({"match_arm"}),
)
STYLES = {"go": GO, "rust": RUST}
NEWER = {"rust": replace(RUST, call=RUST.call.replace(b"extern", b"unsafe extern", 1))}  # editions from 2024 on


@dataclass(frozen=True, slots=True)
class Probed:
    """A file with calls. `lines` are the line numbers of each place, the first place being the one asked for."""

    content: bytes
    lines: tuple[frozenset[int], ...]


def probed(content: bytes, language: str, first: int, *, newer: bool = False) -> Probed:
    """A file in which every statement says that it was reached; `newer` where the source is of a later edition.

    Raises KeyError for a language without style.
    """
    style = {**STYLES, **(NEWER if newer else {})}[language]
    text = content.split(b"\n")
    inserts: list[tuple[int, int, bytes]] = []
    lines: list[frozenset[int]] = []
    for node, start, wrapped in _found(parse(language, content), style):
        call = style.call.replace(b"{}", b"%d" % (first + len(lines)))
        inserts.append((start, 1, b"{" + call if wrapped else call))
        if wrapped:
            inserts.append((node.end_byte, -len(inserts), b"}"))
        lines.append(frozenset(n for n in _own(node, style) if _CODE.match(text[n - 1])))
    parts, at = [], 0
    for offset, _, insert in sorted(inserts, key=lambda i: (i[0], i[1])):
        parts += [content[at:offset], insert]
        at = offset
    return Probed(b"".join([*parts, content[at:]]), tuple(lines))


def _found(root: Node, style: Style) -> Iterator[tuple[Node, int, bool]]:
    """(node, where its call goes, whether it is wrapped) of every place, in source order."""
    stack = [root]
    while stack:
        node = stack.pop()
        if _left_alone(node, style):
            continue
        if node.type in style.lists:
            yield from _statements(node, style)
        value = node.child_by_field_name("value") if node.type in style.values else None
        if value is not None and value.type not in style.lists:
            yield value, value.start_byte, True
        stack.extend(reversed(node.children))


def _left_alone(node: Node, style: Style) -> bool:
    if node.type in style.skip or node.is_error or node.is_missing:
        return True
    before = node.prev_sibling
    marked = before is not None and before.type in style.leading and style.skip_marked.search(before.text or b"")
    modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
    return bool(marked) or (modifiers is not None and style.skip_marked.search(modifiers.text or b"") is not None)


def _statements(block: Node, style: Style) -> Iterator[tuple[Node, int, bool]]:
    start: int | None = None
    for child in block.children:
        if child.type in style.leading:
            start = child.start_byte if start is None else start
        elif child.is_named and child.type not in style.other and not child.has_error:
            yield child, child.start_byte if start is None else start, False
            start = None
        elif child.is_named:
            start = None


def _own(node: Node, style: Style) -> set[int]:
    """Lines of a node from 1 that belong to no place inside it; its first line always does."""
    own = set(range(node.start_point[0] + 1, node.end_point[0] + 2))
    stack = list(node.children)
    while stack:
        inner = stack.pop()
        nested = [n for n, _, _ in _statements(inner, style)] if inner.type in style.lists else []
        value = inner.child_by_field_name("value") if inner.type in style.values else None
        if value is not None and value.type not in style.lists:
            nested.append(value)
        for one in nested:
            own -= set(range(one.start_point[0] + 1, one.end_point[0] + 2))
        if nested and inner.type in style.lists:
            continue
        stack.extend(inner.children)
    return own | {node.start_point[0] + 1}
