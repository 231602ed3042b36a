"""Python for mutation operators."""

from __future__ import annotations

from programsmith.goldens.strength.grammar import SWAPS, Grammar

PYTHON = Grammar(
    swaps={
        token: others
        for token, others in SWAPS.items()
        if token not in (b"&&", b"||", b"<<", b">>", b"|=", b"&=", b"++", b"--")
    }
    | {
        b"and": (b"or",),
        b"or": (b"and",),
        b"in": (b"not in",),
        b"not in": (b"in",),
        b"is": (b"is not",),
        b"is not": (b"is",),
        b"//": (b"*",),
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
