"""JavaScript, as tree-sitter-javascript names its parts: also what a build makes of TypeScript."""

from __future__ import annotations

from programsmith.goldens.strength.grammar import SWAPS, Grammar

JAVASCRIPT = Grammar(
    swaps=SWAPS | {b"===": (b"!==",), b"!==": (b"===",), b"??": (b"&&",)},
    swap_nodes=frozenset({"binary_expression", "augmented_assignment_expression", "update_expression"}),
    integers=frozenset({"number"}),
    strings=frozenset({"string"}),
    string_content="string_fragment",
    conditions=frozenset({"if_statement", "ternary_expression"}),
    negate=(b"!(", b")"),
    words={"true": b"false", "false": b"true", "break_statement": b"continue;", "continue_statement": b"break;"},
    deletable="expression_statement",
    nothing=b";",
    skip=frozenset({"import_statement", "comment", "hash_bang_line", "regex"}),
    returns=b"return undefined;",
    empty=frozenset({b"null", b"undefined", b"false", b"0", b"''", b'""', b"[]", b"{}"}),
)
