"""Expansion: what a mutation may do, and which inputs are kept, on programs that are built and traced for real."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from programsmith.goldens.capture import Capture
from programsmith.goldens.expand import BATCH, expand
from programsmith.goldens.mutate import OPERATORS, mutated, stock_of
from programsmith.goldens.strength.pool import opened
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, FileEntry
from tests.samples.golden import golden
from tests.samples.strength import RULES, adder

CASE = Case(
    argv=(b"-w", b"80", b"--fill", b"in"), stdin=b"a\nb\nc\n", files=(FileEntry(b"in", "file", 0o644, b"1\n2\n"),)
)
OTHER = Case(argv=(b"-x", b"9", b"y"), stdin=b"other", files=(FileEntry(b"y", "file", 0o644, b"two"),))
STOCK = stock_of([CASE, OTHER], [b"-w", b"-x", b"--fill"])
RULE = {"expansion": {"enough": 12, "tries": 200, "seconds": 60, "seed": 1}, "size": {"input_bytes": 1000}}


def many(name, case=CASE, n=40):
    """What an operator makes of a case under many seeds."""
    made = [OPERATORS[name](random.Random(seed), case, STOCK) for seed in range(n)]
    return {m for m in made if m is not None}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_changes_something_is_decided_by_its_seed_and_stands_an_empty_case(name):
    assert many(name) == many(name)
    assert many(name) - {CASE}
    many(name, Case(argv=()))
    many(name, Case(argv=(b"",), stdin=b"\n"))


def test_operators_do_what_they_are_called():
    assert (b"--fill", b"in") in {m.argv for m in many("drop_option")}
    assert {m.stdin for m in many("delete_line")} == {b"b\nc\n", b"a\nc\n", b"a\nb\n"}
    assert {m.stdin for m in many("no_text")} == {b""}
    assert (b"-x", b"9", b"-w", b"80", b"--fill", b"in") in {m.argv for m in many("other_options")}
    assert {f.path for m in many("other_options") for f in m.files} == {b"in", b"y"}
    assert (b"-w", b"81", b"--fill", b"in") in {m.argv for m in many("border", n=200)}
    assert {m.files[0].content for m in many("other_file")} == {b"two", b"1\n2\n"}
    assert {m.argv for m in many("add_option")} >= {(b"-x", b"9", *CASE.argv), (b"--fill", b"in", *CASE.argv)}


def test_a_seed_makes_the_same_of_a_case_and_another_seed_something_else():
    assert mutated(CASE, STOCK, "1:a:7") == mutated(CASE, STOCK, "1:a:7")
    assert len({mutated(CASE, STOCK, f"1:a:{n}") for n in range(30)}) > 10


def of(case):
    made = golden(*case.argv, stdin=case.stdin, stdout=case.argv[0])
    return replace(made, id=case.id, case=case, group="group")


class Echo:
    """A program that shows its first word, seen without starting anything: what is judged here is the choice."""

    def run(self, case):
        return Result(started=True, exit_code=0, stdout=b"".join(case.argv[:1]), files=case.files)


def grown(reach, rule=RULE, clock=lambda: 0.0):
    parents = [of(CASE), of(OTHER)]
    return expand(parents, reach, Echo(), ["-w", "-x", "--fill"], rule, clock)


def words(goldens):
    return [frozenset(map(repr, g.case.argv)) for g in goldens]


def test_what_a_run_reaches_by_chance_alone_is_nothing_new():
    runs = iter(range(10**6))
    by_chance = grown(lambda goldens: [frozenset({f"run {next(runs)}"}) for _ in goldens])
    assert by_chance.cases == []
    assert grown(words).cases


def test_what_reaches_nothing_new_or_shows_what_is_known_is_left():
    assert grown(lambda goldens: [frozenset("a")] * len(goldens)).cases == []
    found = grown(words)
    assert found.cases
    shown = [m.case.argv[:1] for m in found.cases]
    assert len(set(shown)) == len(shown)
    assert found.tried["nothing_new"] > 0
    assert found.tried["outcome_known"] > 0


def test_every_case_names_its_parent_operator_and_seed_and_stays_with_its_group():
    one = grown(words).cases[0]
    said = re.fullmatch(r"(\w+) of (c\w+), seed (1:c\w+:\d+)", one.provenance.made)
    assert said[1] in OPERATORS
    assert said[2] in {CASE.id, OTHER.id}
    assert mutated(CASE if said[2] == CASE.id else OTHER, STOCK, said[3]) == (said[1], one.case)
    assert one.provenance.miner == "expansion"
    assert one.group == "group"


def test_the_same_seed_finds_the_same_and_bounds_hold():
    assert grown(words).cases == grown(words).cases
    other = {**RULE, "expansion": {**RULE["expansion"], "seed": 2}}
    assert grown(words, other).cases != grown(words).cases
    few = {**RULE, "expansion": {**RULE["expansion"], "tries": 10}}
    assert grown(words, few).tried["run"] <= 10
    enough = {**RULE, "expansion": {**RULE["expansion"], "enough": 3}}
    assert len(grown(words, enough).cases) <= 1 + BATCH
    assert grown(words, clock=iter([0.0, *[99.0] * 9]).__next__).cases == []


@pytest.mark.parametrize("language", ["c", "python"])
def test_a_thin_pool_of_a_real_program_grows_by_what_it_had_not_run(language, tmp_path):
    with adder(language, tmp_path) as program:
        few = {**RULES["goldens"], "expansion": {"enough": 4, "tries": 80, "seconds": 60, "seed": 1}}
        material = replace(program.material, rules={**RULES, "goldens": few})
        capture = Capture(program.bench.launcher, program.bench.facts, material.tree, program.bench.limits)
        goldens = [program.golden(Case(argv=argv)) for argv in ((b"sum", b"4"), (b"copy",))]
        (tmp_path / "scratch").mkdir()
        with opened(material, program.bench.launcher, tmp_path / "scratch", 1) as work:
            more = work.expand(goldens, capture)
    assert more.cases
    assert more.tried["run"] > len(more.cases)
    assert all(m.provenance.miner == "expansion" and m.recorded.stdout is None for m in more.cases)


def test_an_expansion_that_ran_out_of_time_says_so():
    ticks = iter([0.0, 0.0, *[61.0] * 9])
    cut = grown(words, clock=lambda: next(ticks))
    assert cut.tried["out_of_time"] == 1
    assert cut.tried["run"] == BATCH
    assert "out_of_time" not in grown(words).tried
