"""A measurement from end to end, on programs that are built and mutated for real."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from programsmith.errors import InfraError
from programsmith.goldens.strength.hunt import differs
from programsmith.goldens.strength.measure import Way, draw
from programsmith.goldens.strength.pool import opened
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, Expected, FileEntry
from programsmith.records.golden import Kills, Mutant, Split
from programsmith.verdict.strength import evidence, strength
from tests.samples.strength import CASES, RULES, Adder, adder, line_of

SUMS = [Case(argv=(b"sum", b"%d" % n)) for n in (1, 4, 7)]
NONE, WRITE = CASES["none"], CASES["write"]


@dataclass(frozen=True)
class Measured:
    """A program, and a way to measure cases of it by side with a few of the rule's values changed."""

    program: Adder
    folder: Path

    def __call__(self, held_out, public=(), workers=2, goldens=None, **changes) -> Kills:
        pool = goldens or [self.program.golden(c) for c in (*held_out, *public)]
        split = Split(public=tuple(c.id for c in public), held_out=tuple(c.id for c in held_out), reserve=())
        rules = {**RULES, "goldens": {**RULES["goldens"], "mutants": {**RULES["goldens"]["mutants"], **changes}}}
        scratch = self.folder / f"scratch{len(list(self.folder.iterdir()))}"
        scratch.mkdir()
        material = replace(self.program.material, rules=rules)
        with opened(material, self.program.bench.launcher, scratch, workers) as work:
            return work.kills(pool, split)


@pytest.fixture(scope="module", params=["c", "python"])
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("adder")
    with adder(request.param, folder) as made:
        yield Measured(made, folder)


@pytest.fixture(scope="module")
def kills(run):
    """One measurement of all mutants, which several tests read."""
    return run([*SUMS, NONE], [WRITE], count=100, killers=2)


python_only = pytest.mark.parametrize("run", ["python"], indirect=True)


def places(run) -> tuple[str, str, str]:
    """The line of the loop that only sums run, one that only WRITE runs, one that no case runs."""
    if run.program.material.lock.language == "c":
        return line_of("sum.c", b"n * 1"), line_of("main.c", b"fputs(getenv"), line_of("main.c", b"putchar(c)")
    found = (b"total += n", b'os.environ["WHO"]', b"stdin.buffer")
    return line_of("adder.py", found[0]), line_of("adder.py", found[1]), line_of("adder.py", found[2])


def test_a_side_kills_what_its_cases_tell_and_not_what_only_others_run(run, kills):
    loop, writes, copies = places(run)
    by_line: dict[str, list[Mutant]] = {}
    for mutant in kills.mutants:
        by_line.setdefault(f"{mutant.path}:{mutant.line}", []).append(mutant)
    sums = {c.id for c in SUMS}
    assert by_line[loop]
    assert all(m.killers and set(m.killers) <= sums for m in by_line[loop])
    assert by_line[writes]
    assert not any(m.killers for m in by_line[writes])
    assert copies not in by_line
    found = strength(kills, [*sums, NONE.id], [WRITE.id], {}, 0.95)
    assert 0 < found.killed < found.mutants == len(kills.mutants)
    assert {m.id for m in by_line[writes]} <= {m.id for m in found.survivors}
    assert 0.5 < found.pool_coverage < 1
    assert found.scope_coverage < found.pool_coverage


@python_only
def test_a_mutant_that_shows_in_the_text_of_stderr_alone_is_alive_and_told(kills):
    words = [m for m in kills.mutants if "no word" in m.diff and m.operator == "string"]
    assert words
    assert all(m.uncompared and not m.killers for m in words)
    assert not any(m.uncompared for m in kills.mutants if m.operator == "integer" and m.killers)
    found = strength(kills, [c.id for c in (*SUMS, NONE)], [WRITE.id], {}, 0.95)
    assert evidence(found)["alive_uncompared"] == sum(m.uncompared for m in found.survivors) > 0


def test_killers_are_the_first_of_their_side(kills):
    assert {len(m.killers) for m in kills.mutants} >= {0, 1, 2}
    assert max(len(m.killers) for m in kills.mutants) == 2
    killers = {k for m in kills.mutants for k in m.killers}
    assert NONE.id in killers
    assert killers < {c.id for c in (*SUMS, NONE)}, "the least of the sums comes last and is never needed"


def test_one_overrun_is_killer_enough_of_a_side(kills):
    hung = [m for m in kills.mutants if m.diff.endswith(("-- -> ++", "-= -> +="))]
    assert hung
    assert all(len(m.killers) == 1 for m in hung)


@python_only
def test_a_measurement_repeats_whatever_the_number_of_workers(run):
    first, again = (run([*SUMS, NONE], [WRITE], workers=n, count=12) for n in (2, 1))
    assert first == again
    assert len({(m.path, m.line) for m in first.mutants}) == 12, "a line gives a second mutant when each gave one"
    other = run([SUMS[0]], count=12, seed=2)
    assert {m.id for m in other.mutants} != {m.id for m in first.mutants}


@python_only
def test_what_the_box_leaves_out_is_counted_and_never_guessed(run):
    kills = run(SUMS, count=30, cpu_seconds=0)
    assert kills.mutants == ()
    assert kills.skipped["out_of_time"] > 0
    assert kills.lines.keys() == {c.id for c in SUMS}


@python_only
def test_a_case_that_the_build_answers_otherwise_kills_nothing(run):
    wrong = replace(run.program.golden(SUMS[0]), expected=Expected(exit_code=0, stdout=b"9\n"))
    kills = run(SUMS, goldens=[wrong, *map(run.program.golden, SUMS[1:])], count=5)
    assert kills.skipped["build_differs"] == 1
    assert not any(wrong.id in m.killers for m in kills.mutants)
    with pytest.raises(InfraError, match="answers no case as the oracle did"):
        run(SUMS[:1], goldens=[wrong], count=5)


@python_only
def test_a_directory_that_a_path_implies_is_no_difference(run):
    golden = run.program.golden(WRITE)
    files = (*golden.case.files, FileEntry(b"sub/made", "file", 0o600, b"me"))
    same = Result(started=True, exit_code=0, files=(FileEntry(b"sub", "dir", 0o755), *files))
    assert not differs(same, golden)
    assert differs(replace(same, files=files[:1]), golden)
    assert differs(replace(same, limits_hit=frozenset({"cpu"})), golden)
    with pytest.raises(InfraError, match="no bwrap"):
        differs(replace(same, fault="no bwrap"), golden)


def test_lines_that_come_later_leave_the_sample_of_those_before_as_it_was():
    sources = {f"f{n}.c": b"int f(int a) { return\na + 1\n- 2; }\n" for n in range(20)}
    old = {f"f{n}.c:{line}" for n in range(1, 20) for line in (2, 3)}
    rule = RULES["goldens"]["mutants"]
    first = draw(sources, old, Way(rule=rule, workers=1), "c")
    more = draw(sources, old | {"f0.c:2", "f0.c:3"}, Way(rule=rule, workers=1, before=frozenset(old)), "c")
    assert [m for m in more if m.path != "f0.c"] == first
    assert len(more) > len(first)
    ends = {m.path == "f0.c" for m in (more[0], more[-1])}
    assert False in ends, "what is new is drawn among the others, neither before nor behind them all"
