"""String literals of a source by its syntax tree, as the running program has them. Nothing is executed.

In: files of a language with a grammar. Out: one text per literal, cut where a template computes something.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_TEXTS = frozenset({"string", "template_string", "string_literal", "jsx_text"})
_PIECES = frozenset({"string_fragment", "multiline_string_fragment", "jsx_text"})
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|u\{?([0-9A-Fa-f]{4,6})\}?|([0-7]{1,3})|\r?\n|(.))", re.DOTALL)
_NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"s": b" "}


def literals(source: bytes, suffix: str) -> Iterator[bytes]:
    """The texts of a file whose name ends with `suffix`; none for a suffix without grammar."""
    import tree_sitter

    grammar = _grammar(suffix)
    if grammar is None:
        return
    stack = [tree_sitter.Parser(grammar).parse(source).root_node]
    while stack:
        node = stack.pop()
        if node.type in _TEXTS:
            yield from _pieces(node)
        stack.extend(reversed(node.children))


def _grammar(suffix: str) -> Language | None:
    import tree_sitter
    import tree_sitter_java
    import tree_sitter_javascript
    import tree_sitter_typescript

    known = {
        tree_sitter_java.language: (".java",),
        tree_sitter_javascript.language: (".js", ".mjs", ".cjs", ".jsx"),
        tree_sitter_typescript.language_typescript: (".ts", ".mts", ".cts"),
        tree_sitter_typescript.language_tsx: (".tsx",),
    }
    found = next((language for language, suffixes in known.items() if suffix in suffixes), None)
    return tree_sitter.Language(found()) if found else None


def _pieces(node: Node) -> Iterator[bytes]:
    """What stands between the quotes, without what is computed in between."""
    text = b""
    for child in node.children or [node]:
        if child.type in _PIECES:
            text += child.text or b""
        elif child.type == "escape_sequence":
            text += _ESCAPE.sub(_meant, child.text or b"")
        elif child.type in ("template_substitution", "string_interpolation"):
            yield text
            text = b""
    yield text


def _meant(match: re.Match[bytes]) -> bytes:
    number = match[1] or match[2]
    if number:
        code = int(number, 16)
        return chr(code).encode("utf-8", "replace") if code <= sys.maxunicode else b""
    if match[3]:
        return chr(int(match[3], 8)).encode("utf-8")
    return _NAMED.get(match[4], match[4]) if match[4] else b""
