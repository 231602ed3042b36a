"""Mutation operators over a tree-sitter syntax tree: source bytes in, mutations out. Nothing is executed.

The operators are the classic sufficient set (relational, logical, arithmetic, constant, condition, statement
deletion: Offutt et al. 1996), without arid statements, whose effect no output can show (Petrovic and Ivankovic 2018).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from programsmith.goldens.strength.grammar import Grammar
from programsmith.goldens.strength.grammar_c import CPP, C
from programsmith.goldens.strength.grammar_go import GO
from programsmith.goldens.strength.grammar_java import JAVA
from programsmith.goldens.strength.grammar_javascript import JAVASCRIPT
from programsmith.goldens.strength.grammar_python import PYTHON
from programsmith.goldens.strength.grammar_rust import RUST
from programsmith.goldens.strength.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True, order=True)
class Mutation:
    """One edit of one file: bytes `start` to `end` become `text`. `line` counts from 1."""

    path: str
    line: int
    start: int
    end: int
    operator: str
    text: bytes

    def apply(self, source: bytes) -> bytes:
        """The mutated file."""
        return source[: self.start] + self.text + source[self.end :]

    def diff(self, source: bytes) -> str:
        """The edit as one line for a reader; foreign bytes are escaped."""
        before = source[self.start : self.end].decode("ascii", "backslashreplace")
        return f"{self.path}:{self.line}: {before} -> {self.text.decode('ascii', 'backslashreplace')}"


GRAMMARS = {"c": C, "cpp": CPP, "go": GO, "java": JAVA, "javascript": JAVASCRIPT, "python": PYTHON, "rust": RUST}


def mutations(path: str, source: bytes, language: str, arid: re.Pattern[bytes]) -> Iterator[Mutation]:
    """Every mutation of a file, in source order. `arid` matches the names of calls that are never deleted.

    Raises KeyError for a language without grammar. Subtrees that do not parse are left alone.
    """
    grammar = GRAMMARS[language]
    stack = [parse(language, source)]
    while stack:
        node = stack.pop()
        if node.type in grammar.skip or node.is_error or node.is_missing:
            continue
        for rule in _RULES:
            for operator, start, end, text in rule(node, grammar, arid):
                yield Mutation(path, node.start_point[0] + 1, start, end, operator, text)
        stack.extend(reversed(node.children))


_Edit = tuple[str, int, int, bytes]


def _swap(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    if node.type not in grammar.swap_nodes:
        return
    for child in node.children:
        if not child.is_named or child.type in ("not in", "is not"):
            for text in grammar.swaps.get(child.text or b"", ()):
                yield "swap", child.start_byte, child.end_byte, text


def _integer(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    text = node.text or b""
    index = node.parent is not None and node.parent.type == "field_expression"
    if node.type in grammar.integers and text.isdigit() and not index:
        yield "integer", node.start_byte, node.end_byte, b"%d" % (int(text) + 1)
        if text == b"1":
            yield "integer", node.start_byte, node.end_byte, b"0"


def _string(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    if node.type in grammar.strings and not _is_no_value(node):
        if grammar.escapes:
            yield from _emptied(node, grammar)
            return
        inner = [c for c in node.children if c.type == grammar.string_content]
        if len(inner) == 1 and len(node.children) == 3 and inner[0].text:  # noqa: PLR2004 - quote, content, quote
            yield "string", inner[0].start_byte, inner[0].end_byte, b""


def _is_no_value(node: Node) -> bool:
    """A text that stands alone, or that names a module: without it nothing is said, or nothing loads."""
    parent = node.parent
    call = parent.parent if parent is not None and parent.type == "arguments" else None
    name = call.child_by_field_name("function") if call is not None else None
    loads = name is not None and name.text in (b"require", b"import")
    return loads or (parent is not None and parent.type == "expression_statement")


def _emptied(node: Node, grammar: Grammar) -> Iterator[_Edit]:
    """Everything between the quotes; of a format string, whose holes are checked, a longer beginning."""
    start, end = node.children[0].end_byte, node.children[-1].start_byte
    text = (node.text or b"")[start - node.start_byte : end - node.start_byte]
    template = node.parent is not None and node.parent.type in grammar.templates and b"{" in text
    if text and b"\n" not in text:
        yield "string", start, start if template else end, b"_" if template else b""


def _condition(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    condition = node.child_by_field_name("condition") if node.type in grammar.conditions else None
    if node.type == "conditional_expression" and condition is None and len(node.children) > 2:  # noqa: PLR2004
        condition = node.children[2]  # Python writes: value if condition else value
    if condition is not None and condition.type not in grammar.fixed:
        before, after = grammar.negate
        text = before + (condition.text or b"") + after
        if condition.type == "parenthesized_expression":
            text = b"(" + text + b")"
        yield "condition", condition.start_byte, condition.end_byte, text


def _word(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    if node.type == "boolean_literal" and node.text in grammar.literals:
        yield "word", node.start_byte, node.end_byte, grammar.literals[node.text]
    if node.type in grammar.words and node.is_named and not node.named_child_count and not _in_switch(node):
        yield "word", node.start_byte, node.end_byte, grammar.words[node.type]
    if (
        grammar.returns
        and node.type == "return_statement"
        and node.named_child_count
        and (node.text or b"") != grammar.returns
    ):
        yield "return", node.start_byte, node.end_byte, grammar.returns + _lines(node)


def _delete(node: Node, grammar: Grammar, arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    if node.type in grammar.more_deletable and node.parent is not None and node.parent.type in _INSIDE:
        yield from _guarded(node, grammar)
    if node.type != grammar.deletable or not node.named_children:
        return
    first = node.named_children[0]
    if first.type in grammar.strings or first.type in ("yield", "await", "yield_expression") or _clears(first, grammar):
        return
    if grammar.acts and first.type not in grammar.acts:
        return
    name = first.child_by_field_name("function") or first.child_by_field_name("macro")
    if name is not None and _is_arid(name.text or b"", grammar, arid):
        return
    if any(grammar.guard):
        yield from _guarded(node, grammar)
    else:
        yield "delete", node.start_byte, node.end_byte, grammar.nothing + _lines(node)


def _is_arid(name: bytes, grammar: Grammar, arid: re.Pattern[bytes]) -> bool:
    """Whether a call's name is arid; where calls are methods, also by its last part, whatever its case."""
    last = re.split(rb"[.:]", name)[-1].lower() if any(grammar.guard) else name
    return arid.search(name) is not None or arid.search(last) is not None


def _guarded(node: Node, grammar: Grammar) -> Iterator[_Edit]:
    """The statement where it never runs: what it uses stays used, so that the rest still compiles."""
    before, after = grammar.guard
    yield "delete", node.start_byte, node.end_byte, before + (node.text or b"") + after


def _lines(node: Node) -> bytes:
    """The line breaks of a node: what follows keeps its line numbers, which a program may show."""
    return b"\n" * (node.text or b"").count(b"\n")


def _clears(node: Node, grammar: Grammar) -> bool:
    """A bare declaration, or an assignment of nothing: without it the value is mostly the same, or undefined."""
    if node.type not in ("assignment", "assignment_expression"):
        return False
    right = node.child_by_field_name("right")
    return right is None or (right.text or b"") in grammar.empty


_INSIDE = frozenset({"compound_statement", "statement_block", "statement_list", "block", "if_statement", "else_clause"})
_CASES = frozenset(
    {"case_statement", "switch_statement", "expression_case", "default_case", "type_case", "communication_case"}
    | {"switch_case", "switch_default", "switch_block_statement_group"}
)


def _in_switch(node: Node) -> bool:
    """A `break` that ends a case is no loop's: `continue` there is another mutation than the one meant."""
    parent = node.parent
    while parent is not None and parent.type in _INSIDE:
        parent = parent.parent
    return parent is not None and parent.type in _CASES


_RULES: tuple[Callable[[Node, Grammar, re.Pattern[bytes]], Iterator[_Edit]], ...] = (
    _swap,
    _integer,
    _string,
    _condition,
    _word,
    _delete,
)
