"""C and C++ for mutation operators."""

from __future__ import annotations

from dataclasses import replace

from programsmith.goldens.strength.grammar import SWAPS, Grammar

C = Grammar(
    swaps=SWAPS,
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

CPP = replace(  # classes hold code, `<<` is rather output than a shift
    C,
    swaps={token: others for token, others in SWAPS.items() if token not in (b"<<", b">>")},
    skip=(C.skip - {"struct_specifier"}) | {"template_argument_list", "static_assert_declaration", "using_declaration"},
    returns=b"return {};",
    empty=C.empty | {b"nullptr", b"{}"},
)
