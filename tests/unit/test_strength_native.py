"""Go and Rust: what is mutated, where statements tell that they ran, which texts a program holds."""

from __future__ import annotations

import re

import pytest

from programsmith.goldens.constants import constants
from programsmith.goldens.strength.operators import mutations
from programsmith.goldens.strength.places import probed
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

ARID = re.compile(rb"(^|_)(flush|close)$|^log")
GO = b"""package main

import "fmt"

type T struct {
	A [3]int `json:"a"`
}

func f(a int, ok bool) (int, error) {
	x := 1
	if !ok && a < 3 {
		x += 2
	} else if ok {
		fmt.Println("a\\tb")
	}
	switch a {
	case 1:
		x++
		break
	default:
		w.Flush()
	}
	for i := 0; i < 3; i++ {
		break
	}
	log.Print("x")
	return x, nil
}
"""
RUST = b"""use std::io;

#[derive(Debug)]
struct T([u8; 3]);

const fn three() -> usize { 3 }

fn f(a: i32, t: (i32, i32)) -> i32 {
    #[allow(unused)]
    let mut x = 1;
    if let Some(q) = g() {
        x += 2;
    } else if a < 3 {
        println!("{} x", x);
    }
    match a {
        1 => h(true),
        2 if x > 1 => {
            out.flush();
        }
        _ => return t.0,
    }
    loop {
        break;
    }
    x = 5;
    x
}

#[cfg(test)]
mod tests {
    fn t() { let y = 9; }
}
"""


def edits(language, source):
    found = mutations("x", source, language, ARID)
    return [(m.line, m.operator, source[m.start : m.end].decode(), m.text.decode()) for m in found]


def test_go_is_mutated_where_it_acts_and_stays_in_the_compilers_sight():
    assert edits("go", GO) == [
        (10, "integer", "1", "2"),
        (10, "integer", "1", "0"),
        (11, "condition", "!ok && a < 3", "!(!ok && a < 3)"),
        (11, "swap", "&&", "||"),
        (11, "swap", "<", "<="),
        (11, "swap", "<", ">="),
        (11, "integer", "3", "4"),
        (12, "swap", "+=", "-="),
        (12, "delete", "x += 2", "if false { x += 2 }"),
        (12, "integer", "2", "3"),
        (13, "condition", "ok", "!(ok)"),
        (14, "delete", 'fmt.Println("a\\tb")', 'if false { fmt.Println("a\\tb") }'),
        (14, "string", "a\\tb", ""),
        (17, "integer", "1", "2"),
        (17, "integer", "1", "0"),
        (18, "swap", "++", "--"),
        (18, "delete", "x++", "if false { x++ }"),
        (23, "integer", "0", "1"),
        (23, "swap", "<", "<="),
        (23, "swap", "<", ">="),
        (23, "integer", "3", "4"),
        (23, "swap", "++", "--"),
        (24, "word", "break", "continue"),
        (26, "string", "x", ""),
    ]


def test_rust_is_mutated_where_it_acts_and_stays_in_the_compilers_sight():
    found = [e for e in edits("rust", RUST) if e[0] < 30]
    assert found == [
        (6, "integer", "3", "4"),
        (10, "integer", "1", "2"),
        (10, "integer", "1", "0"),
        (12, "delete", "x += 2;", "if false { x += 2; }"),
        (12, "swap", "+=", "-="),
        (12, "integer", "2", "3"),
        (13, "condition", "a < 3", "!(a < 3)"),
        (13, "swap", "<", "<="),
        (13, "swap", "<", ">="),
        (13, "integer", "3", "4"),
        (14, "delete", 'println!("{} x", x);', 'if false { println!("{} x", x); }'),
        (14, "string", "", "_"),
        (17, "integer", "1", "2"),
        (17, "integer", "1", "0"),
        (17, "word", "true", "false"),
        (18, "integer", "2", "3"),
        (18, "swap", ">", ">="),
        (18, "swap", ">", "<="),
        (18, "integer", "1", "2"),
        (18, "integer", "1", "0"),
        (24, "word", "break", "continue"),
        (26, "delete", "x = 5;", "if false { x = 5; }"),
        (26, "integer", "5", "6"),
    ]


def told(language, source):
    """(line of the file, lines that it stands for) of each place, and the file without its calls."""
    made = probed(source, language, 7)
    call = {"go": rb"programsmithHit\((\d+)\);", "rust": rb"\{?unsafe\{extern[^;]*;\}programsmith_hit\((\d+)\)\};"}[
        language
    ]
    lines = made.content.split(b"\n")
    at = {int(n): number for number, line in enumerate(lines, 1) for n in re.findall(call, line)}
    assert sorted(at) == list(range(7, 7 + len(made.lines)))
    assert len(lines) == len(source.split(b"\n")), "no line moves"
    return [(at[n], sorted(found)) for n, found in enumerate(made.lines, 7)]


def test_every_go_statement_stands_for_its_own_lines():
    assert told("go", GO) == [
        (10, [10]),
        (11, [11, 13]),
        (16, [16, 17, 20]),
        (23, [23]),
        (26, [26]),
        (27, [27]),
        (12, [12]),
        (14, [14]),
        (18, [18]),
        (19, [19]),
        (21, [21]),
        (24, [24]),
    ]


def test_every_rust_statement_and_arm_stands_for_its_own_lines_and_constants_are_left_alone():
    assert told("rust", RUST) == [
        (9, [10]),
        (11, [11, 13]),
        (16, [16, 18]),
        (23, [23]),
        (26, [26]),
        (27, [27]),
        (12, [12]),
        (14, [14]),
        (17, [17]),
        (19, [19]),
        (21, [21]),
        (24, [24]),
    ]


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        (
            "a.go",
            b'x := "say \\u00e9 \\"it\\"\\n" + `raw \\n text` + \'"\' // "comment"\n',
            {b'say \xc3\xa9 "it"', b"raw \\n text"},
        ),
        ("a.go", b'/* "comment" */ fmt.Printf("have %d things of %s\\x21", n, s)\n', {b"things of", b"have"}),
        ("a.rs", b'let x: &\'a str = "say {} \\u{e9} \\\n     it"; // "comment"\n', {b"say", b"\xc3\xa9 it"}),
        (
            "a.rs",
            b'let y = r#"raw "quoted" text"#; let c = \'"\'; let z = b"bytes";\n',
            {b'raw "quoted" text', b"bytes"},
        ),
    ],
)
def test_literals_are_read_as_the_program_holds_them(name, text, shown):
    source = SourceTree([FileEntry(name.encode(), "file", 0o644, text)])
    assert constants(source, [], {"go": "go", "rs": "rust"}[name[2:]], 3) == shown
