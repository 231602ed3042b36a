"""Lines of which a test knows only parts, as one pattern for a matcher that runs in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable

ANY_LINES = rb"(?:[^\n]*\n)*"
_LITERAL = re.compile(rb"([^A-Za-z0-9_ \n])")


def literal(text: bytes) -> bytes:
    """The text itself: bytes that are no letter, digit, underscore or blank escaped, those beyond ASCII by value."""
    return _LITERAL.sub(lambda m: b"\\" + m[1] if m[1] < b"\x7f" and m[1] > b"\x1f" else b"\\x%02x" % m[1][0], text)


def globbed(text: bytes) -> bytes:
    """A line in which `*` stands for anything and `?` for one byte; a backslash takes their meaning."""
    out: list[bytes] = []
    rest = iter(text[i : i + 1] for i in range(len(text)))
    for char in rest:
        if char == b"\\":
            out.append(literal(next(rest, b"\\")))
        else:
            out.append({b"*": rb"[^\n]*", b"?": rb"[^\n]"}.get(char, literal(char)))
    return b"".join(out)


def holed(text: bytes, hole: bytes = b"[..]") -> bytes:
    """A line in which `hole` stands for anything."""
    return rb"[^\n]*".join(literal(part) for part in text.split(hole))


def whole(lines: Iterable[bytes]) -> bytes:
    """Patterns of lines, `ANY_LINES` among them, as the pattern of a text; its last newline does not count."""
    return b"".join(line if line == ANY_LINES else line + rb"\n" for line in lines)
