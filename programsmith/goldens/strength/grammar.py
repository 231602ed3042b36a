"""How a language spells what mutation operators look for."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """How one language spells what the operators look for."""

    swaps: dict[bytes, tuple[bytes, ...]]  # operator token -> replacements
    swap_nodes: frozenset[str]  # nodes whose operator child may be swapped
    integers: frozenset[str]
    strings: frozenset[str]
    string_content: str
    conditions: frozenset[str]  # nodes with a `condition` field
    negate: tuple[bytes, bytes]
    words: dict[str, bytes]  # node type -> replacement of the whole node
    deletable: str  # a statement that may go
    nothing: bytes  # what an empty statement is
    skip: frozenset[str]  # subtrees in which nothing is mutated
    returns: bytes  # what a return of a value becomes
    empty: frozenset[bytes]  # values that clear what they are assigned to
    more_deletable: frozenset[str] = frozenset()  # other statements that may go
    acts: frozenset[str] = frozenset()  # what an expression statement must hold to be deleted; empty: anything
    guard: tuple[bytes, bytes] = (b"", b"")  # around a deleted statement: it stays in sight of the compiler
    literals: dict[bytes, bytes] = field(default_factory=dict)  # texts of truth values
    fixed: frozenset[str] = frozenset()  # conditions that cannot be negated
    templates: frozenset[str] = frozenset()  # parents of format strings, whose holes must stay
    escapes: bool = False  # a string may be emptied although it holds escapes


SWAPS: dict[bytes, tuple[bytes, ...]] = {
    b"<": (b"<=", b">="),
    b"<=": (b"<", b">"),
    b">": (b">=", b"<="),
    b">=": (b">", b"<"),
    b"==": (b"!=",),
    b"!=": (b"==",),
    b"&&": (b"||",),
    b"||": (b"&&",),
    b"+": (b"-",),
    b"-": (b"+",),
    b"*": (b"/",),
    b"/": (b"*",),
    b"%": (b"*",),
    b"&": (b"|",),
    b"|": (b"&",),
    b"<<": (b">>",),
    b">>": (b"<<",),
    b"+=": (b"-=",),
    b"-=": (b"+=",),
    b"|=": (b"&=",),
    b"&=": (b"|=",),
    b"++": (b"--",),
    b"--": (b"++",),
}
"""Operators that most languages write alike, with their replacements."""
