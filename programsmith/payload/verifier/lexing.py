"""Sources without comments, and with a number for each literal: so much of a language as tells its code from the rest.

In: a reading of a source, a grammar. Out: text in which a comment is a blank and a literal is its number between
quotation marks, and the literals. What does not end takes the rest of the file, or of the line where a compiler has it
so. The time is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_WHOLE = {"string": "held", "text": "inner"}
_KEPT = ("number", "word", "header")
_BLOCK = re.compile(rb"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Code:
    """What is code of a source, and its literals as they are written."""

    text: bytes
    literals: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """What is no code in a language.

    `begins` finds where such a thing begins, or all of it, and words in which nothing begins; `closes` by its group
    gives the bytes that end what is only begun; `suffix` is what a literal may have at its end; `nests` says that
    comments lie in each other.
    """

    begins: re.Pattern[bytes]
    closes: dict[str, Callable[[re.Match[bytes]], bytes]]
    suffix: re.Pattern[bytes] = re.compile(b"")
    nests: bool = False


def code_of(content: bytes, grammar: Grammar, seams: Sequence[int] = ()) -> Code:
    """The code of a reading. `seams` are offsets, ascending, where it joined what is apart in a raw literal."""
    parts: list[bytes] = []
    literals: list[bytes] = []
    at = 0
    while found := grammar.begins.search(content, at):
        parts.append(content[at : found.start()])
        group, at = str(found.lastgroup), found.end()
        if group == "block" and grammar.nests:
            at = _past_block(content, at)
            parts.append(b" ")
        elif group in grammar.closes:
            closing = grammar.closes[group](found)
            end = _end(content, closing, at, seams if group == "raw" else ())
            if group == "block":
                parts.append(b" ")
            else:
                parts.append(b'"%d"' % len(literals))
                literals.append(content[at:end])
            at = _past_suffix(content, grammar, min(end + len(closing), len(content)), group)
        elif group in _WHOLE:
            parts.append(b'"%d"' % len(literals))
            literals.append(found[_WHOLE[group]])
            at = _past_suffix(content, grammar, at, group)
        else:
            parts.append(found[0] if group in _KEPT else b" ")
            at = _past_suffix(content, grammar, at, group)
    parts.append(content[at:])
    return Code(b"".join(parts), tuple(literals))


def _past_suffix(content: bytes, grammar: Grammar, at: int, group: str) -> int:
    if group not in (*_WHOLE, "raw", "letter"):
        return at
    found = grammar.suffix.match(content, at)
    return found.end() if found else at


def _end(content: bytes, closing: bytes, at: int, seams: Sequence[int]) -> int:
    """Where what closes a literal begins that has no seam in it; the end of all where nothing does."""
    while (end := content.find(closing, at)) >= 0:
        later = bisect_right(seams, end)
        if later == len(seams) or seams[later] >= end + len(closing):
            return end
        at = end + 1
    return len(content)


def _past_block(content: bytes, at: int) -> int:
    depth = 1
    while depth and (found := _BLOCK.search(content, at)):
        at = found.end()
        depth += 1 if found[0] == b"/*" else -1
    return len(content) if depth else at


C = Grammar(
    begins=re.compile(
        rb"(?P<line>//[^\n]*+)|(?P<block>/\*)"
        rb"|(?P<header>\#\s*+(?:include(?:_next)?|import|embed)[ \t]*+<[^>\n]*+>?)"
        rb'|(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\()'
        rb'|(?P<string>"(?P<held>[^"\\\n]*+(?:\\.[^"\\\n]*+)*+)(?:"|\\?(?=\n|\Z)))'
        rb"|(?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.$\x80-\xff])*+)"
        rb"|(?P<letter>'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+(?:'|\\?(?=\n|\Z)))"
        rb"|(?P<word>[\w$\x80-\xff]++)"
    ),
    closes={"block": lambda _: b"*/", "raw": lambda found: b")" + found["mark"] + b'"'},
)
JAVA = Grammar(
    begins=re.compile(
        rb'(?P<line>//[^\r\n]*+)|(?P<block>/\*)|(?P<text>"""(?P<inner>[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+)(?:"""|\\?\Z))'
        rb'|(?P<string>"(?P<held>[^"\\\n]*+(?:\\.[^"\\\n]*+)*+)(?:"|\\?(?=\n|\Z)))'
        rb"|(?P<letter>'(?:\\[0-7]{1,3}|\\.|[^\\'\n]{1,4})')",
        re.DOTALL,
    ),
    closes={"block": lambda _: b"*/"},
)
RUST = Grammar(
    begins=re.compile(
        rb"(?P<line>//[^\n]*+)|(?P<block>/\*)"
        rb'|(?P<raw>[bc]?r(?P<marks>\#*+)")'
        rb'|(?P<string>[bc]?"(?P<held>[^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z))'
        rb"|(?P<letter>b?'(?:\\(?:u\{[^}'\n]{0,12}\}|x[0-9a-fA-F]{2}|.)|[^\\'\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]{1,3})')"
        rb"|(?P<word>'?(?:r\#(?=[A-Za-z_\x80-\xff]))?[\w\x80-\xff]++)",
        re.DOTALL,
    ),
    closes={"block": lambda _: b"*/", "raw": lambda found: b'"' + found["marks"]},
    suffix=re.compile(rb"(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*+)?"),
    nests=True,
)
