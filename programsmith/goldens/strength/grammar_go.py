"""Go for mutation operators."""

from __future__ import annotations

from programsmith.goldens.strength.grammar import SWAPS, Grammar

GO = Grammar(
    swaps=SWAPS,
    swap_nodes=frozenset({"binary_expression", "assignment_statement", "inc_statement", "dec_statement"}),
    integers=frozenset({"int_literal"}),
    strings=frozenset({"interpreted_string_literal"}),
    string_content="interpreted_string_literal_content",
    conditions=frozenset({"if_statement"}),
    negate=(b"!(", b")"),
    words={"true": b"false", "false": b"true", "break_statement": b"continue", "continue_statement": b"break"},
    deletable="expression_statement",
    nothing=b"",
    skip=frozenset({"import_declaration", "type_declaration", "array_type", "package_clause"}),
    returns=b"",  # what a function returns has as many forms as it has types
    empty=frozenset(),
    more_deletable=frozenset({"assignment_statement", "inc_statement", "dec_statement"}),
    guard=(b"if false { ", b" }"),
    escapes=True,
)
