"""Texts of a source as the running program has them."""

from __future__ import annotations

import pytest

from programsmith.goldens.constants import constants
from programsmith.goldens.literals import literals
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree


@pytest.mark.parametrize(
    ("suffix", "source", "texts"),
    [
        (
            ".js",
            b"a(`x ${y} z\\n`, 'q\\x41\\u0042\\'s', \"\"); const r = /a\"b/; // 'no'",
            [b"x ", b" z\n", b"qAB's", b""],
        ),
        (".ts", b"const a: string = 'hello'; type T = 'union';", [b"hello", b"union"]),
        (".tsx", b"const a = <b>plain {'x'}</b>;", [b"plain ", b"x"]),
        (".java", b'class A { String s = "a\\tb\\u0041\\101"; /* "no" */ char c = \'x\'; }', [b"a\tbAA"]),
        (".py", b"'none'", []),
    ],
)
def test_texts_are_what_the_program_has(suffix, source, texts):
    found = [t for t in literals(source, suffix) if t] + [b""] * source.count(b'""')
    assert sorted(found) == sorted(texts)


def test_constants_of_typescript_come_from_its_source():
    tree = SourceTree([FileEntry(b"src/a.ts", content=b"say(`wrong width: ${n} letters`);")])
    assert constants(tree, (), "javascript", 6) == {b"wrong width:", b"letters"}
