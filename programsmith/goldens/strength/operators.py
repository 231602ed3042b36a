"""Mutation operators over a tree-sitter syntax tree: source bytes in, mutations out. Nothing is executed.

The operators are the classic sufficient set (relational, logical, arithmetic, constant, condition, statement
deletion: Offutt et al. 1996), without arid statements, whose effect no output can show (Petrovic and Ivankovic 2018).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


C = Grammar(
    swaps={
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
    },
    swap_nodes=frozenset({"binary_expression", "assignment_expression", "update_expression"}),
    integers=frozenset({"number_literal"}),
    strings=frozenset({"string_literal"}),
    string_content="string_content",
    conditions=frozenset({"if_statement", "conditional_expression"}),
    negate=(b"!(", b")"),
    words={"true": b"false", "false": b"true", "break_statement": b"continue;", "continue_statement": b"break;"},
    deletable="expression_statement",
    nothing=b";",
    skip=frozenset(
        {
            "preproc_include",
            "preproc_def",
            "preproc_function_def",
            "attribute_specifier",
            "struct_specifier",
            "enum_specifier",
            "type_definition",
            "array_declarator",
            "sizeof_expression",
            "bitfield_clause",
        }
    ),
    returns=b"return 0;",
    empty=frozenset({b"0", b"NULL", b"false", b"{0}"}),
)

PYTHON = Grammar(
    swaps={
        b"<": (b"<=", b">="),
        b"<=": (b"<", b">"),
        b">": (b">=", b"<="),
        b">=": (b">", b"<"),
        b"==": (b"!=",),
        b"!=": (b"==",),
        b"and": (b"or",),
        b"or": (b"and",),
        b"in": (b"not in",),
        b"not in": (b"in",),
        b"is": (b"is not",),
        b"is not": (b"is",),
        b"+": (b"-",),
        b"-": (b"+",),
        b"*": (b"/",),
        b"/": (b"*",),
        b"//": (b"*",),
        b"%": (b"*",),
        b"+=": (b"-=",),
        b"-=": (b"+=",),
        b"&": (b"|",),
        b"|": (b"&",),
    },
    swap_nodes=frozenset({"comparison_operator", "boolean_operator", "binary_operator", "augmented_assignment"}),
    integers=frozenset({"integer"}),
    strings=frozenset({"string"}),
    string_content="string_content",
    conditions=frozenset({"if_statement", "elif_clause", "conditional_expression"}),
    negate=(b"not (", b")"),
    words={"true": b"False", "false": b"True", "break_statement": b"continue", "continue_statement": b"break"},
    deletable="expression_statement",
    nothing=b"pass",
    skip=frozenset({"import_statement", "import_from_statement", "type", "decorator", "future_import_statement"}),
    returns=b"return None",
    empty=frozenset({b"None"}),
)

GRAMMARS = {"c": C, "python": PYTHON}


def mutations(path: str, source: bytes, language: str, arid: re.Pattern[bytes]) -> Iterator[Mutation]:
    """Every mutation of a file, in source order. `arid` matches the names of calls that are never deleted.

    Raises KeyError for a language without grammar. Subtrees that do not parse are left alone.
    """
    grammar = GRAMMARS[language]
    stack = [_parse(language, source)]
    while stack:
        node = stack.pop()
        if node.type in grammar.skip or node.is_error or node.is_missing:
            continue
        for rule in _RULES:
            for operator, start, end, text in rule(node, grammar, arid):
                yield Mutation(path, node.start_point[0] + 1, start, end, operator, text)
        stack.extend(reversed(node.children))


def _parse(language: str, source: bytes) -> Node:
    import tree_sitter
    import tree_sitter_c
    import tree_sitter_python

    grammar = {"c": tree_sitter_c, "python": tree_sitter_python}[language]
    tree = tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(source)
    return tree.root_node


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
    if node.type in grammar.integers and text.isdigit():
        yield "integer", node.start_byte, node.end_byte, b"%d" % (int(text) + 1)
        if text == b"1":
            yield "integer", node.start_byte, node.end_byte, b"0"


def _string(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    alone = node.parent is not None and node.parent.type == "expression_statement"
    if node.type in grammar.strings and not alone:
        inner = [c for c in node.children if c.type == grammar.string_content]
        if len(inner) == 1 and len(node.children) == 3 and inner[0].text:  # noqa: PLR2004 - quote, content, quote
            yield "string", inner[0].start_byte, inner[0].end_byte, b""


def _condition(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    condition = node.child_by_field_name("condition") if node.type in grammar.conditions else None
    if node.type == "conditional_expression" and condition is None and len(node.children) > 2:  # noqa: PLR2004
        condition = node.children[2]  # Python writes: value if condition else value
    if condition is not None:
        before, after = grammar.negate
        text = before + (condition.text or b"") + after
        if condition.type == "parenthesized_expression":
            text = b"(" + text + b")"
        yield "condition", condition.start_byte, condition.end_byte, text


def _word(node: Node, grammar: Grammar, _arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    if node.type in grammar.words and node.is_named and not _in_switch(node):
        yield "word", node.start_byte, node.end_byte, grammar.words[node.type]
    if node.type == "return_statement" and node.named_child_count and (node.text or b"") != grammar.returns:
        yield "return", node.start_byte, node.end_byte, grammar.returns + _lines(node)


def _delete(node: Node, grammar: Grammar, arid: re.Pattern[bytes]) -> Iterator[_Edit]:
    if node.type != grammar.deletable or not node.named_children:
        return
    first = node.named_children[0]
    if first.type in grammar.strings or first.type in ("yield", "await") or _clears(first, grammar):
        return
    name = first.child_by_field_name("function")
    if not (name is not None and arid.search(name.text or b"")):
        yield "delete", node.start_byte, node.end_byte, grammar.nothing + _lines(node)


def _lines(node: Node) -> bytes:
    """The line breaks of a node: what follows keeps its line numbers, which a program may show."""
    return b"\n" * (node.text or b"").count(b"\n")


def _clears(node: Node, grammar: Grammar) -> bool:
    """A bare declaration, or an assignment of nothing: without it the value is mostly the same, or undefined."""
    if node.type not in ("assignment", "assignment_expression"):
        return False
    right = node.child_by_field_name("right")
    return right is None or (right.text or b"") in grammar.empty


def _in_switch(node: Node) -> bool:
    """A `break` that ends a case is no loop's: `continue` there is another mutation than the one meant."""
    parent = node.parent
    while parent is not None and parent.type in ("compound_statement", "if_statement", "else_clause"):
        parent = parent.parent
    return parent is not None and parent.type in ("case_statement", "switch_statement")


_RULES: tuple[Callable[[Node, Grammar, re.Pattern[bytes]], Iterator[_Edit]], ...] = (
    _swap,
    _integer,
    _string,
    _condition,
    _word,
    _delete,
)
