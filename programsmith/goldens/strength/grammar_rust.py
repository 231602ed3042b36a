"""Rust for mutation operators."""

from __future__ import annotations

from programsmith.goldens.strength.grammar import SWAPS, Grammar

RUST = Grammar(
    swaps=SWAPS | {b"..": (b"..=",), b"..=": (b"..",)},
    swap_nodes=frozenset({"binary_expression", "compound_assignment_expr", "range_expression"}),
    integers=frozenset({"integer_literal"}),
    strings=frozenset({"string_literal"}),
    string_content="string_content",
    conditions=frozenset({"if_expression"}),
    negate=(b"!(", b")"),
    words={"break_expression": b"continue", "continue_expression": b"break"},
    deletable="expression_statement",
    nothing=b"",
    skip=frozenset(
        {"attribute_item", "inner_attribute_item", "macro_definition", "use_declaration", "array_type"}
        | {"type_arguments", "where_clause"}
    ),
    returns=b"",
    empty=frozenset(),
    acts=frozenset(
        {"call_expression", "macro_invocation", "assignment_expression", "compound_assignment_expr", "try_expression"}
    ),
    guard=(b"if false { ", b" }"),
    literals={b"true": b"false", b"false": b"true"},
    fixed=frozenset({"let_condition", "let_chain"}),
    templates=frozenset({"token_tree"}),
    escapes=True,
)
