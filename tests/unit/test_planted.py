"""A task with one planted case that nobody can determine does not ship; whoever tries it, however well."""

import dataclasses
import random

import pytest

from programsmith.records import codec
from programsmith.records.golden import Mutant
from programsmith.records.outcome import Record, Word
from programsmith.records.revision import Lineage
from programsmith.rulebook.load import Rulebook
from programsmith.verdict.acceptance import Asked, verdict
from programsmith.verdict.bands import demands, judge_bands
from programsmith.verdict.discovery import lacks
from programsmith.verdict.policy import Parent, choose, need_of
from programsmith.verdict.routes import Routes
from programsmith.verdict.triage import BAD, Ground, triage
from tests.samples.stock import FAMILIES, SPLIT, STOCK, asks, make_stock
from tests.samples.trials import BANDS, attempt
from tests.samples.trials import RULE as TRIAGE

BOOK = Rulebook(None)
ROUTES, OPERATIONS = Routes(BOOK.load("routes")), BOOK.load("operations")
PLANTED = "one2"
GOOD = ("images", "strength", "sanity", "static")
BAND = {"basis": "rollouts", "pass_rate": {"min": 0.0, "max": 0.7}, "confidence": 0.7, "trials_max": 6}
KINDS = ("unshown", "unseen")


def record(block, word, reason="because", **evidence):
    return Record(block=block, outcome=word, reason=reason, evidence=evidence, inputs={}, seconds=0.0)


def stock_with(kind):
    """The sample pool, where the planted case asks a word of its own, or tells what no public case runs."""
    if kind == "unshown":
        return make_stock(discovery={**STOCK.discovery, PLANTED: asks(b"a word of its own", options=("one",))})
    hidden = Mutant(id="hidden", path="a.c", line=5, operator="swap", diff="", killers=(PLANTED,))
    kills = dataclasses.replace(
        STOCK.kills,
        mutants=(*STOCK.kills.mutants, hidden),
        line_table=(*STOCK.kills.line_table, "a.c:5"),
        lines={**STOCK.kills.lines, PLANTED: (0, 4)},
    )
    return make_stock(kills=kills)


def attempts(seed, *, planted):
    """Six solvers of some skill; nobody without the source gets the planted case right. Two ceiling trials do."""
    chance = random.Random(seed)
    skill = chance.choice((0.5, 0.8, 0.95, 1.0))
    tried = []
    for i in range(6):
        wrong = {f for f in FAMILIES if chance.random() > skill}
        failing = {c for c in SPLIT.held_out if STOCK.pool[c].family in wrong} | ({PLANTED} if planted else set())
        tried.append(attempt(i, sorted(failing), [c for c in SPLIT.public if STOCK.pool[c].family in wrong]))
    return [*tried, attempt(0, ceiling=True), attempt(1, ceiling=True)]


def records_of(tried, stock, split=SPLIT):
    """What triage and calibrate say, and everything before them with a pass."""
    found = lacks(split.public, split.held_out, stock.discovery, stock.kills)
    families = {i: g.family for i, g in stock.pool.items()}
    ground = Ground(public=split.public, held_out=split.held_out, families=families, lacks=found)
    labels = triage(tried, ground, TRIAGE, {})
    bad = any(t.label in BAD for t in labels.trials)
    records = {b: record(b, Word.PASS) for b in GOOD} | {"rollouts": record("rollouts", Word.DONE)}
    records["triage"] = record("triage", Word.DEFECT if bad else Word.DONE, labels=codec.encode(labels))
    if not bad:
        judged = judge_bands(demands([BAND]), "rollouts", labels, BANDS)
        records["calibrate"] = record("calibrate", judged.word, judged.reason, **judged.evidence)
        records["probe"] = record("probe", Word.CLEAN)
    return records


def outcome_of(records):
    return verdict_of(records).outcome


def verdict_of(records):
    asked = Asked(name="t", rollouts=True, review=False, lines=2000, min_lines=1500, rule=BOOK.load("acceptance"))
    return verdict(records, ROUTES, asked)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(50))
def test_a_planted_case_does_not_ship(kind, seed):
    assert outcome_of(records_of(attempts(seed, planted=True), stock_with(kind))) is not Word.SHIP


@pytest.mark.parametrize("seed", range(50))
def test_a_planted_case_that_looks_like_any_other_does_not_ship_whoever_has_read_the_source(seed):
    tried = attempts(seed, planted=True)
    assert outcome_of(records_of(tried[:6], STOCK)) is not Word.SHIP
    blind = [attempt(0, [PLANTED], ceiling=True)]
    assert outcome_of(records_of([*tried[:6], *blind], STOCK)) is not Word.SHIP
    found = verdict_of(records_of(tried, STOCK))
    assert (found.outcome, PLANTED in found.reasons[0]) == (Word.SHELVE_HARD, True)


def test_the_same_solvers_ship_the_task_without_it_where_they_lie_in_the_band():
    outcomes = [outcome_of(records_of(attempts(seed, planted=False), STOCK)) for seed in range(50)]
    assert outcomes.count(Word.SHIP) >= 10
    assert Word.SHELVE_EASY in outcomes  # those who always pass


@pytest.mark.parametrize("kind", KINDS)
def test_the_case_is_taken_out_and_the_next_revision_may_ship(kind):
    stock = stock_with(kind)
    careful = [attempt(i, [PLANTED]) for i in range(6)]
    records = records_of(careful, stock)
    assert records["triage"].outcome is Word.DEFECT
    parent = Parent(split=SPLIT, lineage=Lineage(), made=1)
    found = choose(need_of(records, OPERATIONS, BANDS.repeatable), parent, stock, OPERATIONS)
    assert found.split is not None
    assert found.split.dropped == (PLANTED,)
    hasty = [attempt(i, *(() if i < 2 else (["two2"], ["two0"]))) for i in range(6)]
    assert outcome_of(records_of(hasty, stock, found.split)) is Word.SHIP
