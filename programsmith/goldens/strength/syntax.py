"""What a syntax tree says of a whole file: whether it parses, which lines carry code. Nothing is executed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_PUNCTUATION = frozenset({b"{", b"}", b"(", b")", b"[", b"]", b";", b","})
_NO_CODE = frozenset({"comment", "line_comment", "block_comment", "hash_bang_line"})


def parse(language: str, source: bytes) -> Node:
    """The root of a file's syntax tree. Raises ModuleNotFoundError for a language without grammar."""
    import tree_sitter

    grammar = importlib.import_module(f"tree_sitter_{language}")
    return tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(source).root_node


def parses(language: str, source: bytes) -> bool:
    """Whether a file has no syntax error."""
    return not parse(language, source).has_error


def code_lines(language: str, source: bytes) -> frozenset[int]:
    """Lines, from 1 on, that hold more than brackets and comments."""
    found: set[int] = set()
    stack = [parse(language, source)]
    while stack:
        node = stack.pop()
        if node.type in _NO_CODE:
            continue
        if node.child_count:
            stack.extend(node.children)
        elif (node.text or b"") not in _PUNCTUATION:
            found.update(range(node.start_point[0] + 1, node.end_point[0] + 2))
    return frozenset(found)
