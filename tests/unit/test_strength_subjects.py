"""Programs that are built, traced and mutated for real: lines per case, edits and their undoing, what is no mutant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from programsmith.goldens.strength.c_subject import CSubject
from programsmith.goldens.strength.hunt import differs
from programsmith.goldens.strength.python_subject import PythonSubject
from programsmith.goldens.strength.subject import Unfit
from tests.samples.strength import C_FILES, CASES, PYTHON_FILES, RULES, adder, line_of

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
    "python": {
        "wrong": ("adder.py", b"total += n", b"total += n * 2"),
        "hangs": ("adder.py", b"n -= 1", b"n -= 0"),
        "eats": ("adder.py", b"return 0\n", b"return [0] * 10**10\n"),
        "kills_all": ("adder.py", b"return 0\n", b"return os.kill(-1, 9)\n"),
        "breaks": ("adder.py", b"return total", b"return total ("),
        "elsewhere": ("adder.py", b'os.environ["WHO"]', b'os.environ["WHO"][1:]'),
    },
}


@pytest.fixture(scope="module", params=["c", "python"])
def made(request, tmp_path_factory):
    """(language, the program, its subject with two slots, goldens by name)."""
    folder = tmp_path_factory.mktemp(request.param)
    with adder(request.param, folder) as program:
        bench, source = program.bench, program.material.source
        if request.param == "c":
            subject = CSubject(bench, source, program.request, 2, RULES["goldens"]["mutants"]["generated"])
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
    files = {"c": {"sum.c", "main.c"}, "python": {"adder.py"}}[language]
    loop, tail, usage = (
        {"c": ("sum.c", b"n * 1"), "python": ("adder.py", b"total += n")}[language],
        {"c": ("main.c", b"putchar(c)"), "python": ("adder.py", b"stdin.buffer")}[language],
        {"c": ("main.c", b"return 2"), "python": ("adder.py", b"return 2")}[language],
    )
    lines = dict(zip(CASES, subject.trace([goldens[n] for n in CASES]), strict=True))
    assert {line.split(":")[0] for found in lines.values() for line in found} == files
    for place, name in ((loop, "sum"), (tail, "copy"), (usage, "none")):
        assert {n for n, found in lines.items() if line_of(*place) in found} == {name}
    assert len(set().union(*lines.values())) <= subject.scope_lines() < 40


def test_sources_are_those_of_the_repository(made):
    language, _, subject, _ = made
    own = {
        n: text for n, text in (C_FILES | PYTHON_FILES).items() if n.endswith({"c": ".c", "python": ".py"}[language])
    }
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


@pytest.mark.parametrize("made", ["c"], indirect=True)
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
