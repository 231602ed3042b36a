"""What a source holds of another language: as code it is found whatever the file's name, as a word it is let pass."""

from __future__ import annotations

import dataclasses

import pytest

from programsmith.payload.verifier.lexing import JAVA, RUST, C, code_of
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.policy import findings
from programsmith.payload.verifier.within import MOST

LONG = b"\n".join(b'"nop; nop; nop; nop"' for _ in range(MOST // 16))
HOLDS = {
    "A.java": [
        b'System.load("/tmp/a.so");',
        b"Runtime.getRuntime() . loadLibrary(name);",
        b"Stream.of(names).forEach(System::loadLibrary);",
        b"Runtime r = Runtime.getRuntime();\nr.loadLibrary(name);",
        b"import static java.lang.System.*;\nclass A { void f() { load(name); } }",
        b'System.class.getMethod("load", String.class).invoke(null, name);',
        b'lookup.findStatic(Runtime.class, "loadLibrary0", type);',
        b"class A {\n    private static native int f(int x) throws E;\n}",
        b"class A {\n    public static\n    native Map<String, ? extends B[]> f(\n        int x,\n        int y);\n}",
        b"class A { static /* fast */ native/**/int f(); }",
        b"import sun.misc.Unsafe;",
        b"import sun.misc.*;\nclass A { Unsafe u; }",
        b'Class.forName("sun.misc.Unsafe")',
        b'Class.forName("""sun.misc.Unsafe""")',
        b'System.\\u006coad("/tmp/a.so");',
        b"/* \\u002a/ System.load(name); /* */",
        b"import java.lang.\\uuu0066oreign.Linker;",
        "import sun.misc.Unsafe;".encode("utf-16"),
        b"var linker = java.lang.foreign.Linker.nativeLinker();",
        b"char c = '\"'; import sun.misc.Unsafe; char d = '\"';",
        b"class A { static nat\x01ive int f(); }",
        "class A { static nat\u200bive int f(); }".encode(),
        b"class A { static nat\\u00adive int f(); }",
        b"System.<String>load(name);",
        b'String s = "\x95\\"; System.load(name); String t = "\x95\\";',
        b"int \x1b$B/*\x1b(B; System.load(name); // */",
        "class A { static native int f(); }".encode("cp037"),
    ],
    "a.rs": [
        b'core::arch::global_asm!("nop");',
        b"use std::arch::global_asm as within;",
        b"use core::arch::{asm as within, x86_64};",
        b'r#global_asm!("nop");',
        b'unsafe { asm!(include_str!("a.txt"), options(att_syntax)) };',
        b'asm ! { "nop", /* ; */ include_str ! ("a.txt") }',
        b"unsafe { asm!(\n" + LONG.replace(b'"\n', b'",\n') + b"\n) };",
        b"let quote = '\"'; std::arch::global_asm!(\"nop\"); let other = '\"';",
        b"fn f<'a>(x: &'a str) { global_asm!(); }",
        b'let a = r##"one "# quote"##; global_asm!(""); let b = r#"x"#;',
        b"/* a /* nested */ comment */ global_asm!();",
        *(
            b"m!(" + hides + b' "); global_asm!("nop"); m!(' + hides + b' ");'
            for hides in (b"'a'r\"\\\"", b'"x"r"\\"', b'r#r"\\"', b'\'r"\\"', b'\xc3\xa9r"\\"', b'cr"\\"', b'r"x"r"\\"')
        ),
        b'\xe2\x80\xa8r"\\"; global_asm!("nop"); let a = \xe2\x80\xa8r"\\";',
        b'#!/bin/a "\nglobal_asm!("nop");\n// "',
        b"#!/*\nglobal_asm!();\n// */",
        b"use core::arch as a;\nuse a::{x86_64, " + b"y, " * 99 + b"asm as within};",
    ],
    "a.c": [
        b"__asm__(\n" + LONG + b"\n);",
        b'asm volatile (".include \\"answer.txt\\"");',
        b'as\\\nm(\n#include "answer.txt"\n);',
        b"int x = '\"'; __asm ( " + LONG + b" ); char y = '\"';",
    ],
    "a.cpp": [
        b'auto a = R"x( )\\\nx"/* )x"; int n = 1; asm(' + LONG + b"); // */",
        b'auto a = 1e+R"("; asm(' + LONG + b'); auto b = ")";',
        b'auto a = R"x( " )" )x"; int n = 1\'000; asm(' + LONG + b");",
    ],
}
HOLDS["a.c"] += [
    b"as\\ \t\nm(" + LONG + b");",
    b'char *s = "??/" "; asm(' + LONG + b'); char *t = "??/" ";',
    b"int x = '" + b"a" * 40 + b"\"'; asm(" + LONG + b"); int y = '" + b"a" * 40 + b"\"';",
    b"M(1'a\"') asm(" + LONG + b") M(1'a\"')",
    b"#include <a/*b.h>\nasm(" + LONG + b"); // */",
    b'M(R"(") asm(' + LONG + b') M(")")',
    (b"asm(" + LONG + b");").decode().encode("utf-16"),
    (b"asm(" + LONG + b");").decode().encode("cp037"),
    b"+AGEAcwBt-(" + LONG + b");",
]
LACKS = {
    "a.go": [b'package main\n\nimport "C"\n', b'// import "C"\n'],
    "A.java": [
        b'String path = "C:\\\\u0053ystem.load";',
        b'String said = "call System.load(x), a native int f(); sun.misc.Unsafe";',
        b'String block = """\n  static native int f();\n  "System.load"\n""";',
        b"/** Unlike {@code System.load(x)} and sun.misc.Unsafe. */",
        b"// static native int f();",
        b"properties.load(reader);",
        b"Runtime.getRuntime().availableProcessors(); properties.load(reader);",
        b"loader.load(name);",
        b"int native_ = 1, $native = 2; boolean isNative = nativeOrder == order;",
        b"ByteOrder.nativeOrder();",
        b"import sun.misc.*;\nclass A { Signal s; }",
        b'List.of("sun.misc.Unsafe", "java.lang.foreign.Linker")',
        '// Gr\u00f6\u00dfe of a native newline\nString s = "\u00e9"; // System.load(x)'.encode("latin-1"),
        b"int a = b +// native speed, System.load(x)\n    c;",
        b'String s = "never ends // native\n',
        b"char quote = '\"'; // System.load(x)\nchar other = '\\'';",
    ],
    "a.rs": [
        b'unsafe { asm!("pause") }; let text = include_str!("help.txt");',
        b"// no global_asm! here\n/* nor /* global_asm!() */ global_asm */",
        b'let keywords = ["global_asm", r#"naked_asm "quoted" "#, b"asm!(include_str!(x))"];',
        b"fn global_asm_count(is_naked_asm: bool) {}",
        b"let tick = '\\''; let s = \"global_asm!()\"; fn f<'a, 'b>(x: &'a u8) {} // global_asm!",
        b"let asm = 1; let b = asm as usize; use a::b;",
        b"let c = 'a'; let l: &'static str = \"naked_asm\";",
    ],
    "a.c": [
        b'__asm__ volatile ("pause" ::: "memory");',
        b'extern int f(void) __asm__("g");',
        b"/* asm(" + LONG + b") */",
        b'puts("asm(\\".include x\\")");',
        b"#error don't say asm(\nint f;\n",
        b"// it's\nint a; /* don't */ char b = '\\''; char *c = \"don't asm(\";\n",
        b"const char *text[] = {" + LONG.replace(b"\n", b",") + b'}; asm("nop");',
    ],
    "a.txt": [b"System.load(x) global_asm!"],
}


def every(policy: Policy) -> Policy:
    """A policy that refuses no suffix, so that sources of each language are its own."""
    return dataclasses.replace(policy, refused_suffixes=(), compiled=True)


def rust(policy: Policy) -> Policy:
    return dataclasses.replace(policy, refused_suffixes=(".c", ".h", ".java"), compiled=True)


def refused(policy: Policy, **files: bytes) -> set[str]:
    """Names of files, in which `_` stands for the dot, that the policy refuses."""
    entries = [FileEntry(b"src/" + name.replace("_", ".").encode(), content=text) for name, text in files.items()]
    return {found.path.removeprefix(b"src/").decode() for found in findings(entries, policy)}


@pytest.mark.parametrize(("name", "content"), [(name, text) for name, all_ in HOLDS.items() for text in all_])
def test_a_source_that_holds_another_language_is_refused(policy: Policy, name: str, content: bytes) -> None:
    (found,) = findings([FileEntry(b"src/" + name.encode(), content=content)], every(policy))
    assert found.why.startswith("it holds ")


@pytest.mark.parametrize(("name", "content"), [(name, text) for name, all_ in LACKS.items() for text in all_])
def test_a_source_that_only_speaks_of_it_passes(policy: Policy, name: str, content: bytes) -> None:
    assert findings([FileEntry(b"src/" + name.encode(), content=content)], every(policy)) == ()


def java(policy: Policy) -> Policy:
    return dataclasses.replace(policy, refused_suffixes=(".c", ".h", ".rs"), compiled=False)


@pytest.mark.parametrize(
    "text",
    [
        b"--eol KIND   unix, dos or native (what the system has)\n",
        b"This class of {formats} is native; see System.load(x) and sun.misc.Unsafe.\n",
        b"#!/bin/sh\n# compile.sh, help.txt: no native code\nexec java --enable-native-access=ALL-UNNAMED Main\n",
        bytes(range(256)) * 64 + b" native ",
        "l'option native: System.load(x)".encode("latin-1"),
        b"compile.sh: native\n" + b"\x00\xff+AAA~{\x1b" * 999,
    ],
)
def test_what_a_build_copies_may_speak_of_anything(policy: Policy, text: bytes) -> None:
    script = b"# compile.sh takes no native code\ncp help.txt steps.sh classes/\njavac -d classes src/*.java\n"
    files = {"help_txt": text, "steps_sh": text, "Main_java": b"class Main {}\n"}
    assert refused(java(policy), compile_sh=script, **files) == set()


def test_what_a_build_makes_a_source_of_is_one(policy: Policy) -> None:
    source = b"package a;\n\nfinal class A<T> extends B<T> implements C, D {\n    static native int f();\n}\n"
    assert refused(java(policy), compile_sh=b"mv answer.txt A.java\n", answer_txt=source) == {"answer.txt"}


def test_what_has_more_readings_than_are_looked_at_is_refused_and_no_fault(policy: Policy) -> None:
    most = dataclasses.replace(policy.submission, bytes=1000)
    source = b'??/ R"(" 1\'a \xff\0 +AAA ~{ asm\n' * 20
    (found,) = findings([FileEntry(b"a.c", content=source)], dataclasses.replace(every(policy), submission=most))
    assert "several ways" in found.why


WITHIN = b'std::arch::global_asm!("nop");\n'
ASSEMBLED = b"\t.text\n\t.globl\tmain\nmain:\n\tret\n"


@pytest.mark.parametrize(
    "taking",
    [
        {"main_rs": b'include!("answer.txt");\n'},
        {"main_rs": b'#[path = "../src/answer.txt"]\nmod answer;\n'},
        {"main_rs": b'include!("more.inc");\n', "more_inc": b'include! { "answer.txt" }\n'},
        {"compile_sh": b"mv answer.txt main.rs\n"},
        {"compile_sh": b"for name in answer; do mv $name.txt $name.rs; done\n"},
        {"compile_sh": b"cat src/*.txt >main.rs\n"},
        {"compile_sh": b"rustc -o executable ${folder}/answer.txt\n"},
        {"Cargo_toml": b'[[bin]]\npath = "src/answer.txt"\n'},
        {"steps": b"#!/bin/sh\nrustc answer.txt\n"},
    ],
)
def test_what_is_taken_in_as_a_source_is_read_as_one_whatever_its_name(
    policy: Policy, taking: dict[str, bytes]
) -> None:
    assert refused(rust(policy), answer_txt=WITHIN, **taking) == {"answer.txt"}
    assert refused(rust(policy), answer_txt=ASSEMBLED, **taking) == {"answer.txt"}


def test_what_nothing_takes_in_is_a_text(policy: Policy) -> None:
    main, script = b'const HELP: &str = include_str!("help.txt");\n', b'rustc -o executable main.rs && rm "$found"\n'
    assert refused(rust(policy), README_md=WITHIN, help_txt=ASSEMBLED, main_rs=main, compile_sh=script) == set()
    assert refused(rust(policy), README_md=WITHIN, main_rs=b"fn main() {}\n", compile_sh=script) == set()


def test_assembler_within_a_script_is_refused_where_something_assembles(policy: Policy) -> None:
    script = FileEntry(b"compile.sh", content=b"cc -x assembler - <<EOF\n" + ASSEMBLED + b"EOF\n")
    assert [found.path for found in findings([script], rust(policy))] == [script.path]
    assert findings([script], dataclasses.replace(rust(policy), compiled=False)) == ()


def test_a_configure_that_tries_an_assembler_passes(policy: Policy) -> None:
    tries = b"#!/bin/sh\ncat >conftest.s <<EOF\n" + ASSEMBLED + b"EOF\n"
    assert refused(rust(policy), configure=tries, compile_sh=b"./configure && make\n") == set()
    assert refused(rust(policy), tests_m4=b"\t.globl main\n", compile_sh=b"autoreconf tests.m4\n") == set()


def test_code_is_what_neither_a_comment_nor_a_literal_is() -> None:
    assert code_of(b"a // b\nc /* d /* e */ f", C).text == b"a  \nc   f"
    assert code_of(b"a /* d /* e */ f */ g", RUST).text == b"a   g"
    assert code_of(b"x = \"one\" + 'y';", JAVA) == code_of(b"x = \"one\" + 'z';", JAVA)
    assert code_of(b'x = "one\\"two"; "three"', RUST).literals == (b'one\\"two', b"three")
    assert code_of(b'R"(a "quoted" \\)" + u8"b"', C).literals == (b'a "quoted" \\', b"b")
    assert code_of(b'r#"never ends', RUST).text == b'"0"'
    assert code_of(b"before /* never ends", C).text == b"before  "
    assert code_of(b'\'it "\nf("x")', C).text == b' \nf("0")', "a letter that does not end takes its line"
    assert code_of(b"f('\\u{1F600}', 'static, 1.0e-5f32, b'\\'', 'r)", RUST).text == b"f( , 'static, 1.0e-5f32,  , 'r)"


ENDLESS = {
    "a.rs": [b"asm!(", b"asm!(include", b"asm ", b'r#"', b"/*", b"'", b'"', b"arch::asm ", b"asm\\\n", b'"x" asm!('],
    "a.c": [b"asm(", b"asm volatile ", b"asm\t", b'R"x(', b"/*asm", b"'", b'asm"', b"1'asm", b"asm\\\n", b'"x" asm(('],
}
ENDLESS["A.java"] = [
    b"a\n",
    b"nativ ",
    b"System ",
    b"System load . ",
    b"getRuntime ",
    b"forName ",
    b"\\u006",
    b"public load\n",
    b'"""load',
    b"misc.* load",
    b"System.class.load",
]
QUOTES = [
    b'\\"',
    b"\\'",
    b'"\\',
    b"'\\",
    b'"""\\"',
    b'u8R"',
    b"b'",
    b'cr#"',
    b"use asm as\n",
    b"class a ",
    b"\n",
    b"public\n",
    b'R"()\\\n"',
    b"#include <",
]
for parts in ENDLESS.values():
    parts.extend(QUOTES)


@pytest.mark.parametrize(("name", "part"), [(name, part) for name, parts in ENDLESS.items() for part in parts])
def test_no_source_is_read_for_longer_than_its_length_takes(policy: Policy, name: str, part: bytes) -> None:
    """Of a search that goes back for each line, a file of this size is none that a grading gets to the end of."""
    findings([FileEntry(name.encode(), content=b"x " + part * (100_000 // len(part)) + b" asm load")], every(policy))


def test_no_list_of_names_is_searched_for_longer_than_it_is(policy: Policy) -> None:
    names = b" ".join(b"a%d*b*c*.txt" % n for n in range(20_000))
    files = [FileEntry(b"%d" % n + b"a" * 200, content=WITHIN) for n in range(500)]
    found = findings([FileEntry(b"compile.sh", content=names), *files], rust(policy))
    assert len(found) == len(files), "where there are too many to look for, every file is read"
