"""Mutation operators: what they change, and what they leave alone."""

from __future__ import annotations

import re

import pytest

from programsmith.goldens.strength.javascript_subject import written_lines
from programsmith.goldens.strength.operators import mutations

ARID = re.compile(rb"(^|_)free$|^assert")


def edits(source: bytes, language: str) -> set[tuple[str, bytes]]:
    return {(m.operator, m.apply(source)) for m in mutations("f", source, language, ARID)}


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("c", b"int f(int a){return a<3;}", ("swap", b"int f(int a){return a<=3;}")),
        ("c", b"int f(int a){return a&&3;}", ("swap", b"int f(int a){return a||3;}")),
        ("c", b"int f(int a){return a+3;}", ("integer", b"int f(int a){return a+4;}")),
        ("c", b"void f(int a){if(a)g();}", ("condition", b"void f(int a){if(!((a)))g();}")),
        ("c", b"void f(int a){g(a);}", ("delete", b"void f(int a){;}")),
        ("c", b"void f(void){for(;;)break;}", ("word", b"void f(void){for(;;)continue;}")),
        ("c", b"int f(int a){return a;}", ("return", b"int f(int a){return 0;}")),
        ("c", b'void f(void){g("abc");}', ("string", b'void f(void){g("");}')),
        ("python", b"x = a <= 3\n", ("swap", b"x = a < 3\n")),
        ("python", b"x = a not in b\n", ("swap", b"x = a in b\n")),
        ("python", b"if a:\n    pass\n", ("condition", b"if not (a):\n    pass\n")),
        ("python", b"x = 1 if a else 2\n", ("condition", b"x = 1 if not (a) else 2\n")),
        ("python", b"x = True\n", ("word", b"x = False\n")),
        ("python", b"g(a)\n", ("delete", b"pass\n")),
        ("python", b"def f():\n    return a\n", ("return", b"def f():\n    return None\n")),
    ],
)
def test_an_operator_makes_its_edit(language: str, source: bytes, expected: tuple[str, bytes]) -> None:
    assert expected in edits(source, language)


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", b"void f(char *a){free(a);}"),  # no output shows a missing free
        ("c", b"void f(struct s *a){jv_free(a);}"),
        ("c", b"void f(void){a = NULL;}"),  # cleared anyway, or undefined
        ("python", b"a = None\n"),
        ("c", b'#include "a.h"\n'),
        ("c", b"struct s { int a[3]; };"),
        ("python", b'"""Only a docstring."""\n'),
        ("python", b"import a\n"),
        ("python", b"x: int\n"),
    ],
)
def test_what_no_output_can_show_is_left_alone(language: str, source: bytes) -> None:
    assert edits(source, language) == set()


def test_a_break_that_ends_a_case_is_not_turned_into_continue() -> None:
    source = b"void f(int a){for(;;)switch(a){case 1: g(); break;}}"
    assert not [e for e in edits(source, "c") if e[0] == "word"]


def test_lines_count_from_one_and_foreign_bytes_are_escaped() -> None:
    source = b'x = 1\ny = "\xff"\n'
    found = list(mutations("f", source, "python", ARID))
    assert {m.line for m in found} == {1, 2}
    assert any("\\xff" in m.diff(source) for m in found)


def test_a_file_that_does_not_parse_gives_no_error() -> None:
    assert isinstance(edits(b"int f( {{{ @@@", "c"), set)


def test_what_a_compiler_adds_to_javascript_is_not_mutated():
    text = b'"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nconst n = 1;\n}\n// no\n'
    assert written_lines(text) == {1, 3}
    helper = b"var __x = (this && this.__x) || function (mod) {\n  return mod.__esModule ? mod : 0;\n};"
    assert written_lines(helper) == frozenset()
