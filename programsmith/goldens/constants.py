"""String constants of the oracle: from literals in its source, else from its executable. Pure.

A format string counts by its literal runs, a text of several lines by its lines: what can show as it stands.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import suppress

from programsmith.goldens.literals import literals
from programsmith.goldens.literals_native import go_texts, rust_texts
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

_C_LITERAL = re.compile(rb'"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
_C_JOIN = re.compile(rb'"[ \t\r\n]*"')
_C_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*|'(?:[^'\\\n]|\\.)*'|(\"(?:[^\"\\\n]|\\.)*\")", re.DOTALL)
_C_SUFFIXES = (b".c", b".h", b".y", b".l", b".cc", b".cpp", b".cxx", b".hh", b".hpp", b".hxx")
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]+)|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"0": b"\0"}
_HOLES = re.compile(
    rb"%[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|j|z|t|L)?[A-Za-z%]|%\(\w+\)[A-Za-z]|\{[^{}\s]*\}|[\r\n\0]+"
)
_PRINTABLE = re.compile(rb"[\t\x20-\x7e]+")


def constants(source: SourceTree, oracle: Iterable[FileEntry], language: str, least: int) -> frozenset[bytes]:
    """Every constant of at least `least` bytes, blanks folded."""
    readers = {
        "c": _c_texts,
        "cpp": _c_texts,
        "go": go_texts,
        "java": _by_grammar,
        "javascript": _by_grammar,
        "python": _python_texts,
        "rust": rust_texts,
    }
    texts = set(readers[language](source)) if language in readers else set()
    if not texts:
        texts = {m[0] for e in oracle if e.kind == "file" for m in _PRINTABLE.finditer(e.content)}
    pieces = {fold(piece) for text in texts for piece in _HOLES.split(text)}
    return frozenset(p for p in pieces if len(p) >= least)


def fold(text: bytes) -> bytes:
    """Runs of blanks as one, none at the ends."""
    return b" ".join(text.split())


def _c_texts(source: SourceTree) -> Iterator[bytes]:
    for entry in source.files():
        if entry.path.endswith(_C_SUFFIXES):
            text = _C_COMMENT.sub(lambda m: m[1] or b" ", entry.content)
            for match in _C_LITERAL.finditer(_C_JOIN.sub(b"", text)):
                yield _ESCAPE.sub(_unescape, match[1])


def _unescape(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        return bytes([int(match[1], 16) & 0xFF])
    if match[2] is not None:
        return bytes([int(match[2], 8) & 0xFF])
    return _ESCAPES.get(match[3], match[3])


def _by_grammar(source: SourceTree) -> Iterator[bytes]:
    for entry in source.files():
        name = entry.path.rpartition(b"/")[2].decode("ascii", "replace")
        yield from literals(entry.content, "." + name.rpartition(".")[2])


def _python_texts(source: SourceTree) -> Iterator[bytes]:
    for entry in source.files(b".py"):
        yield from _python_file(entry.content)


def _python_file(text: bytes) -> list[bytes]:
    """Constants of one file; what this Python cannot parse is cut into tokens as far as that goes."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _python_tokens(text)
    values = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [
        v if isinstance(v, bytes) else v.encode("utf-8", "surrogatepass") for v in values if isinstance(v, (str, bytes))
    ]


def _python_tokens(text: bytes) -> list[bytes]:
    found: list[bytes] = []
    with suppress(tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        tokens = tokenize.tokenize(io.BytesIO(text).readline)
        strings = (t.string.strip("rRbBuUfF\"'") for t in tokens if t.type == tokenize.STRING)
        found.extend(s.encode("utf-8", "surrogatepass") for s in strings)
    return found
