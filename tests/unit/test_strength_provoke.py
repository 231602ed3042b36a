"""Inputs that kill surviving mutants: found for a real program, of closed cases alone, each counted."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from programsmith.goldens.capture import Capture
from programsmith.goldens.expand import Expansion
from programsmith.goldens.mutate import stock_of
from programsmith.goldens.mutate_text import CHANGES, MOST, TOKEN, changed_text
from programsmith.goldens.strength.hunt import name_of
from programsmith.goldens.strength.measure import Way, draw
from programsmith.goldens.strength.pool import opened
from programsmith.goldens.strength.provoke import LATE, Search, _changed
from programsmith.goldens.strength.subject import Bench, limits_of
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import Kills, Mutant, Split
from tests.samples.golden import golden
from tests.samples.strength import RULES, adder

SILENT, TALKS, WRITES = (
    Case(argv=(b"sum", b"0"), stdin=b"other words\n"),
    Case(argv=(b"copy",), stdin=b"some words of 3 kinds\nand a line\n"),
    Case(argv=(b"write",), env=((b"WHO", b"me"),)),
)


@dataclass(frozen=True)
class Found:
    """What practice told, what was made for its survivors (twice), and what was measured before and afterwards."""

    alone: Kills
    practice: Kills
    more: Expansion
    again: Expansion
    practised: Kills
    after: Kills


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A pool whose closed cases run lines without telling what they do, with inputs that are sought for it."""
    folder = tmp_path_factory.mktemp("provoked")
    with adder("python", folder) as program:
        own = RULES["goldens"]
        mutants = {**own["mutants"], "count": 8, "cpu_floor_seconds": 0.2, "cpu_factor": 1}
        few = {"survivors": {**own["survivors"], "tries": [3, 25]}, "mutants": mutants}
        material = replace(program.material, rules={**RULES, "goldens": {**own, **few}})
        capture = Capture(program.bench.launcher, program.bench.facts, material.tree, program.bench.limits)
        pool = [program.golden(case) for case in (SILENT, TALKS, WRITES)]
        split = Split(public=(TALKS.id, pool[2].id), held_out=(SILENT.id,), reserve=())
        for name in ("alone", "scratch"):
            (folder / name).mkdir()
        with opened(material, program.bench.launcher, folder / "alone", 2) as work:
            alone = work.kills(pool, split)
        with opened(material, program.bench.launcher, folder / "scratch", 2) as work:
            practice = work.practice(pool, split)
            more, again = (work.provoke(pool, split, practice, capture) for _ in range(2))
            grown = [*pool, *(program.golden(m.case) for m in more.cases)]
            closed = replace(split, held_out=(SILENT.id, *(m.case.id for m in more.cases)))
            after = work.kills(grown, closed)
            practised = work.practice(grown, closed)
        yield Found(alone, practice, more, again, practised, after)


def named(kills):
    return {m.id for m in kills.mutants}


def alive(kills):
    return {m.id for m in kills.mutants if not m.killers}


def test_a_survivor_dies_under_an_input_that_was_made_for_it(found):
    sought = {one.provenance.made.split("seed 1:")[1].rpartition(":")[0] for one in found.more.cases}
    assert sought
    assert sought <= alive(found.practice)
    assert sought & named(found.practised)
    assert not sought & alive(found.practised)
    assert found.more.tried["killed"] == len(found.more.cases)


def test_no_mutant_that_inputs_were_sought_for_is_measured_and_the_others_are_those_without_a_search(found):
    assert found.practice.mutants
    assert not named(found.practice) & named(found.after)
    old = set(found.alone.line_table)
    assert {m.id for m in found.after.mutants if f"{m.path}:{m.line}" in old} <= named(found.alone)
    assert len(found.after.mutants) == 8


def test_what_is_made_says_so_and_stays_with_the_closed_case_it_was_made_of(found):
    assert found.more.cases == found.again.cases
    for one in found.more.cases:
        assert one.provenance.miner == "survivors"
        assert re.fullmatch(rf"[a-z_, ]+ of {SILENT.id}, seed 1:adder\.py:.*", one.provenance.made)
        assert one.group == SILENT.id
        assert one.recorded.stdout is None


def test_every_survivor_is_counted_by_what_came_of_it(found):
    assert found.more.tried.total() == len(alive(found.practice))
    assert set(found.more.tried) <= {"killed", "alive", "outcome_known", "only_public_runs_it", LATE, "practice_cut"}


@dataclass
class Slow:
    """A subject whose box is spent after the first round; every mutant of it shows what the program shows."""

    tree: Path = Path()
    sources: Mapping[str, bytes] = field(default_factory=lambda: {"f.c": b"int f(int a) {\nreturn a + 1;\n}\n"})
    asked: int = 0

    def spent(self):
        return float(self.asked > 1)

    def mutate(self, _slot, _mutation):
        return self.tree

    def answers(self, _tree, goldens, _limits):
        self.asked += 1
        return [(g, Result(started=True, exit_code=0, stdout=b"same")) for g in goldens]


def test_a_box_that_is_spent_in_a_later_round_is_told():
    rule = {**RULES["goldens"], "survivors": {"tries": [2, 50], "steps": [1], "cpu_seconds": 1, "seed": 1}}
    bench = Bench(launcher=None, facts=SimpleNamespace(language="c"), limits=limits_of(RULES["limits"]["capture"]))
    way = Way(rule=rule["mutants"], workers=1)
    mutation = draw(Slow().sources, ["f.c:2"], way, "c")[0]
    mutant = Mutant(id=name_of(mutation), path="f.c", line=2, operator=mutation.operator, diff="", killers=())
    case = golden(b"a", b"b", stdin=b"some words\n")
    kills = Kills(mutants=(mutant,), line_table=("f.c:2",), lines={case.id: (0,)}, scope_lines=3, skipped={LATE: 7})
    sides = Split(public=(), held_out=(case.id,), reserve=())
    made = Search(Slow(), bench, (), rule, 1).run([case], sides, kills, None)
    assert made.cases == []
    assert +made.tried == {LATE: 1, "practice_cut": 1}


def test_a_whole_text_of_another_case_is_not_altered():
    """What is made would nearly be that case, which may be public, and no gate would know."""
    shown = golden(
        b"-p", b"f", stdin=b"what public cases show\n", files=(FileEntry(b"f", "file", 0o644, b"theirs 1\n"),)
    )
    own = golden(b"-h", b"f", stdin=b"mine\n", files=(FileEntry(b"f", "file", 0o644, b"own 22\n"),))
    stock = stock_of([shown.case, own.case], [])
    made = [_changed(own.case, stock, f"1:{n}", 4) for n in range(400)]
    lent = [(names, case) for names, case in made if "other_stdin" in names or "other_file" in names]
    assert len(lent) > 10
    for names, case in lent:
        assert names.endswith(("other_stdin", "other_file"))
        whole = {one.case.stdin for one in (shown, own)} | {one.case.files[0].content for one in (shown, own)}
        assert (case.stdin if names.endswith("other_stdin") else case.files[0].content) in whole


def test_tokens_are_the_whole_text_whatever_its_bytes_and_a_vast_text_is_left():
    every = bytes(range(256)) + b"\r\nword 12 \xff\xfe"
    assert b"".join(TOKEN.findall(every)) == every
    chance = random.Random(1)
    vast = Case(argv=(b"-x",), stdin=b"a" * (MOST + 1))
    assert all(changed_text(chance, vast, TALKS, change) is None for change in CHANGES.values())
