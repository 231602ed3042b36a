"""Java, as tree-sitter-java names its parts."""

from __future__ import annotations

from programsmith.goldens.strength.grammar import SWAPS, Grammar

JAVA = Grammar(
    swaps=SWAPS | {b">>>": (b"<<",)},
    swap_nodes=frozenset({"binary_expression", "assignment_expression", "update_expression"}),
    integers=frozenset({"decimal_integer_literal"}),
    strings=frozenset({"string_literal"}),
    string_content="string_fragment",
    conditions=frozenset({"if_statement", "ternary_expression"}),
    negate=(b"!(", b")"),
    words={"true": b"false", "false": b"true", "break_statement": b"continue;", "continue_statement": b"break;"},
    deletable="expression_statement",
    nothing=b";",
    skip=frozenset(
        {
            "import_declaration",
            "package_declaration",
            "marker_annotation",
            "annotation",
            "line_comment",
            "block_comment",
            "explicit_constructor_invocation",
        }
    ),
    returns=b"return null;",
    empty=frozenset({b"null", b"false", b"0", b'""'}),
)
