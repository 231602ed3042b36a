"""Programs that are built, traced and mutated for real: lines per case, edits and their undoing, what is no mutant."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from programsmith.goldens.strength.compiled_subject import CompiledSubject
from programsmith.goldens.strength.hunt import differs
from programsmith.goldens.strength.java_subject import JavaSubject
from programsmith.goldens.strength.javascript_subject import JavaScriptSubject
from programsmith.goldens.strength.python_subject import PythonSubject
from programsmith.goldens.strength.subject import Unfit
from programsmith.payload.verifier.model import Case
from tests.samples.strength import CASES, FILES, NEEDS, RULES, adder, line_of

EDITS = {  # by language: a file, what it holds once, and what comes in its place
    "c": {
        "wrong": ("sum.c", b"n * 1", b"n * 2"),
        "hangs": ("sum.c", b"n--", b"n++, n--"),
        "eats": ("main.c", b"return 0;", b"for (;;) *(char *)malloc(1 << 20) = 1;"),
        "kills_all": ("main.c", b"return 0;", b'return system("") + kill(-1, 9);'),
        "breaks": ("sum.c", b"int total", b"void total"),
        "same": ("sum.c", b"n * 1", b"n / 1"),
        "elsewhere": ("main.c", b"fputs(getenv", b"fputs(1 + getenv"),
    },
    "java": {
        "wrong": ("Sum.java", b"n * 1", b"n * 2"),
        "hangs": ("Sum.java", b"n--", b"n -= 0"),
        "eats": (
            "Adder.java",
            b"System.out.flush();",
            b"for (var a = new Object[1]; ; ) a = new Object[][] {a, new Object[1 << 20]};",
        ),
        "kills_all": (
            "Adder.java",
            b"System.out.flush();",
            b"for (var p : ProcessHandle.allProcesses().toList()) try { p.destroyForcibly(); } catch (Exception e) { }",
        ),
        "breaks": ("Sum.java", b"return total", b"return total ("),
        "same": ("Sum.java", b"total += n * 1;", b"total += (n * 1);"),
        "elsewhere": ("Adder.java", b'System.getenv("WHO")', b'System.getenv("WHO").substring(1)'),
    },
    "javascript": {
        "wrong": ("sum.js", b"total += n", b"total += n * 2"),
        "hangs": ("sum.js", b"n -= 1", b"n -= 0"),
        "eats": ("cli.js", b"process.exitCode = 0;", b"for (const a = []; ; ) a.push(new Array(1 << 20).fill(a));"),
        "kills_all": ("cli.js", b"process.exitCode = 0;", b"process.kill(-1, 9);"),
        "breaks": ("sum.js", b"return total", b"return total ("),
        "elsewhere": ("cli.js", b"process.env.WHO)", b"process.env.WHO.slice(1))"),
    },
    "python": {
        "wrong": ("adder.py", b"total += n", b"total += n * 2"),
        "hangs": ("adder.py", b"n -= 1", b"n -= 0"),
        "eats": ("adder.py", b"return 0\n", b"return [0] * 10**10\n"),
        "kills_all": ("adder.py", b"return 0\n", b"return os.kill(-1, 9)\n"),
        "breaks": ("adder.py", b"return total", b"return total ("),
        "elsewhere": ("adder.py", b'os.environ["WHO"]', b'os.environ["WHO"][1:]'),
    },
    "go": {
        "wrong": ("sum/sum.go", b"n * 1", b"n * 2"),
        "hangs": ("sum/sum.go", b"n--", b"n++; n--"),
        "eats": ("main.go", b"held = nil", b"for { held = append(held, []byte(fmt.Sprint(make([]int, 1<<16)))) }"),
        "kills_all": ("main.go", b"held = nil", b"syscall.Kill(-1, 9)"),
        "breaks": ("sum/sum.go", b"return total", b"return"),
        "same": ("sum/sum.go", b"n * 1", b"n / 1"),
        "elsewhere": ("main.go", b'os.Getenv("WHO")', b'os.Getenv("WHO")[1:]'),
    },
    "rust": {
        "wrong": ("src/sum.rs", b"n * 1", b"n * 2"),
        "hangs": ("src/sum.rs", b"n -= 1", b"n -= 0"),
        "eats": (
            "src/main.rs",
            b"let _held: Vec<Vec<u8>> = Vec::new();",
            b"let mut held = Vec::new(); loop { held.push(vec![1u8; 1 << 20]); }",
        ),
        "kills_all": (
            "src/main.rs",
            b"let _held: Vec<Vec<u8>> = Vec::new();",
            b'unsafe extern "C" { fn kill(p: i32, s: i32) -> i32; } unsafe { kill(-1, 9); }',
        ),
        "breaks": ("src/sum.rs", b"    total\n", b"    totals\n"),
        "elsewhere": ("src/main.rs", b'var("WHO").unwrap()', b'var("WHO").unwrap().split_off(1)'),
    },
}


PLACES = {  # by language: what only one case runs, of `sum`, `copy` and `none`
    "c": (("sum.c", b"n * 1"), ("main.c", b"putchar(c)"), ("main.c", b"return 2")),
    "go": (("sum/sum.go", b"n * 1"), ("main.go", b"io.Copy"), ("main.go", b"os.Exit(2)")),
    "java": (("Sum.java", b"total += n"), ("Adder.java", b"transferTo"), ("Adder.java", b"exit(2)")),
    "javascript": (("sum.js", b"+= n"), ("cli.js", b"stdout"), ("cli.js", b"exit(2)")),
    "python": (("adder.py", b"total += n"), ("adder.py", b"stdin.buffer"), ("adder.py", b"return 2")),
    "rust": (("src/sum.rs", b"n * 1"), ("src/main.rs", b"io::copy"), ("src/main.rs", b"exit(2)")),
}
SUFFIXES = (".c", ".go", ".java", ".js", ".py", ".rs")


@pytest.fixture(scope="module", params=sorted(PLACES))
def made(request, tmp_path_factory):
    """(language, the program, its subject with two slots, goldens by name)."""
    needed, packages = NEEDS[request.param]
    if not shutil.which(needed):
        pytest.skip(f"{needed} is absent; run: apt-get install -y {packages}")
    folder = tmp_path_factory.mktemp(request.param)
    with adder(request.param, folder) as program:
        bench, source = program.bench, program.material.source
        if request.param in ("c", "go", "rust"):
            subject = CompiledSubject(bench, source, program.request, 2, RULES["goldens"]["mutants"]["generated"])
        elif request.param == "java":
            (folder / "scratch").mkdir()
            tree = program.material.tree
            subject = JavaSubject(bench, source, program.request, tree, folder / "scratch", "no such text")
        elif request.param == "javascript":
            (folder / "scratch").mkdir()
            toolchain, entry = program.request.toolchain, program.material.entry
            subject = JavaScriptSubject(bench, toolchain, entry, program.material.tree, folder / "scratch")
        else:
            (folder / "scratch").mkdir()
            subject = PythonSubject(bench, source, program.material.tree, folder / "scratch")
        yield request.param, program, subject, {name: program.golden(case) for name, case in CASES.items()}
        subject.close()


def told(made, tree, names, cpu=0.5):
    """Which of the named cases differ, and which overran."""
    _, program, subject, goldens = made
    limits = program.bench.limits
    tight = replace(limits, cpu_seconds=cpu, wall_seconds=20)
    found = list(subject.answers(tree, iter([goldens[n] for n in names]), lambda _: tight))
    assert [g for g, _ in found] == [goldens[n] for n in names]
    killed = {n for n, (g, result) in zip(names, found, strict=True) if differs(result, g)}
    return killed, {n for n, (_, result) in zip(names, found, strict=True) if result.limits_hit}


def mutated(made, name, slot=0):
    language, program, subject, _ = made
    return subject.mutate(slot, program.mutation(*EDITS[language][name]))


def test_the_unmutated_build_answers_every_case_as_the_installed_program(made):
    _, _, subject, _ = made
    assert told(made, subject.tree, list(CASES)) == (set(), set())


def test_a_trace_names_the_lines_that_a_case_runs_and_no_others(made):
    language, _, subject, goldens = made
    loop, tail, usage = PLACES[language]
    files = {"c": {"sum.c", "main.c"}}.get(language, {path for path, _ in PLACES[language]})
    lines = dict(zip(CASES, subject.trace([goldens[n] for n in CASES]), strict=True))
    assert {line.split(":")[0] for found in lines.values() for line in found} == files
    for place, name in ((loop, "sum"), (tail, "copy"), (usage, "none")):
        assert {n for n, found in lines.items() if line_of(*place) in found} == {name}
    assert len(set().union(*lines.values())) <= subject.scope_lines() < 40


@pytest.mark.parametrize("made", ["c", "go", "rust"], indirect=True)
def test_a_compiled_program_tells_how_often_lines_ran(made):
    _, program, subject, _ = made
    goldens = [program.golden(Case(argv=(b"sum", n))) for n in (b"1", b"5", b"4", b"9", b"999")]
    one, five, four, nine, many = subject.reach(goldens)
    lines = subject.trace(goldens)
    assert lines[0] == lines[3]
    assert one != five != nine != many
    assert four == five
    assert {line.partition("*")[0] for line in nine} == lines[3]


def test_sources_are_those_of_the_repository(made):
    language, _, subject, _ = made
    own = {name: text for name, text in FILES[language].items() if name.endswith(SUFFIXES)}
    assert subject.sources == own


def test_a_mutant_differs_where_it_is_met_and_the_next_edit_undoes_it(made):
    before = made[2].spent()
    assert told(made, mutated(made, "wrong"), ["none", "sum", "write"]) == ({"sum"}, set())
    assert before < made[2].spent() < before + 60, "CPU seconds of the launch, and of the build where there is one"
    assert told(made, mutated(made, "elsewhere"), ["none", "sum", "write"]) == ({"write"}, set())
    assert told(made, mutated(made, "wrong", slot=1), ["sum", "write"]) == ({"sum"}, set())


def test_what_does_not_compile_is_no_mutant_and_leaves_the_slot_in_order(made):
    assert mutated(made, "breaks") is Unfit.DOES_NOT_BUILD
    assert told(made, mutated(made, "wrong"), ["sum", "copy"]) == ({"sum"}, set())


@pytest.mark.parametrize("made", ["c", "go", "java"], indirect=True)
def test_what_the_compiler_takes_for_the_same_program_is_no_mutant(made):
    assert mutated(made, "same") is Unfit.EQUIVALENT
    assert told(made, mutated(made, "wrong"), ["sum"]) == ({"sum"}, set())


@pytest.mark.parametrize("name", ["hangs", "eats", "kills_all"])
def test_a_mutant_without_measure_harms_its_own_case_alone(made, name):
    met = {"hangs": {"sum"}, "eats": {"sum", "copy"}, "kills_all": {"sum", "copy"}}[name]
    killed, overran = told(made, mutated(made, name), ["none", "sum", "copy", "none"])
    assert killed == met
    assert overran >= (met if name != "eats" else set())
    assert told(made, made[2].tree, ["sum", "copy"]) == (set(), set())
