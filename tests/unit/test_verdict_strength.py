"""Strength of a choice of cases is set arithmetic."""

import dataclasses

import pytest

from programsmith.records.golden import Kills, Mutant
from programsmith.rulebook.load import Rulebook
from programsmith.verdict.strength import evidence, shortfalls, strength, wilson

RULE = Rulebook(None).load("acceptance")


def mutant(line, *killers):
    return Mutant(id=f"m{line}", path="a.py", line=line, operator="swap", diff=f"-{line}", killers=killers)


KILLS = Kills(
    mutants=(mutant(1, "h1", "p1"), mutant(2, "h1"), mutant(3, "h2"), mutant(4, "p1"), mutant(5, "h1"), mutant(6)),
    line_table=tuple(f"a.py:{n}" for n in range(1, 9)),
    lines={"h1": (0, 1), "h2": (1, 2), "p1": (0, 3, 1), "r1": (4, 5)},
    scope_lines=12,
    skipped={},
)


def test_score_and_coverage_count_what_held_out_kills_and_executes():
    found = strength(KILLS, ["h1", "h2"], ["p1"], {}, 0.95)
    assert (found.mutants, found.killed) == (6, 3)
    assert found.mutation_score == 0.5
    assert found.pool_coverage == 3 / 6
    assert found.scope_coverage == 3 / 12


def test_a_mutant_on_a_line_that_held_out_never_executes_is_alive():
    found = strength(KILLS, ["h1"], [], {}, 0.95)
    assert "m5" in {m.id for m in found.survivors}  # h1 is named as its killer, yet executes only lines 1 and 2


def test_reserve_counts_for_neither_side():
    assert strength(KILLS, ["r1"], [], {}, 0.95).killed == 0


def test_a_killed_mutant_is_discoverable_by_a_public_kill_or_a_line_that_public_shows():
    found = strength(KILLS, ["h1", "h2"], ["p1"], {}, 0.95)
    assert found.public_kill_ratio == 2 / 3  # 1 by kill, 2 by line; 3 neither
    assert strength(KILLS, ["h1", "h2"], [], {}, 0.95).public_kill_ratio == 0
    assert strength(KILLS, [], ["p1"], {}, 0.95).public_kill_ratio is None


def test_nothing_to_measure_is_no_strength():
    empty = Kills(mutants=(), line_table=(), lines={}, scope_lines=0, skipped={})
    found = strength(empty, [], [], {}, 0.95)
    assert (found.mutation_score, found.pool_coverage, found.scope_coverage) == (0, 0, 0)
    assert found.interval == (0, 1)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (84, 120, 0.6128, 0.7747)],
)
def test_the_interval_is_wilsons(k, n, low, high):
    assert wilson(k, n, 0.95) == pytest.approx((low, high), abs=5e-5)


STRONG = dataclasses.replace(
    strength(KILLS, ["h1"], [], {}, 0.95),
    mutants=120,
    mutation_score=0.7,
    pool_coverage=0.6,
    scope_coverage=0.3,
    public_kill_ratio=0.95,
    null_scores={"null_silent": 0.02},
)


def test_at_the_thresholds_nothing_falls_short():
    assert shortfalls(STRONG, RULE) == []


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("mutants", 119, "mutants_min"),
        ("mutation_score", 0.699, "mutation_score"),
        ("pool_coverage", 0.599, "pool_coverage"),
        ("scope_coverage", 0.299, "scope_coverage"),
        ("public_kill_ratio", 0.949, "public_kill_ratio"),
        ("public_kill_ratio", None, "public_kill_ratio"),
        ("null_scores", {"null_stdin": 0.021}, "nulls_max"),
    ],
)
def test_each_threshold_is_held(field, value, name):
    short = shortfalls(dataclasses.replace(STRONG, **{field: value}), RULE)
    assert len(short) == 1
    assert short[0].endswith(f"({name})")


def test_evidence_shows_figures_and_survivors_with_their_diff():
    shown = evidence(strength(KILLS, ["h1"], ["p1"], {"null_silent": 0.0}, 0.95))
    assert {"mutation_score", "interval", "mutants", "pool_coverage", "scope_coverage"} < set(shown)
    assert {"public_kill_ratio", "null_scores"} < set(shown)
    assert shown["survivors"][0] == {"path": "a.py", "line": 3, "operator": "swap", "diff": "-3"}
