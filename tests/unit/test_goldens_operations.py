"""Operations on the split of a pool: what they move, where they stop, what they refuse."""

import dataclasses

import pytest

from programsmith.goldens.invariants import SIDES, broken, moved, settle
from programsmith.goldens.operations import KINDS, Aim, Seen, apply
from programsmith.records.golden import Mutant, Split
from tests.samples.stock import EACH, FAMILIES, RULE, SPLIT, STOCK, asks, changes, held, make_stock


def test_the_sample_breaks_nothing():
    assert broken(Split(public=(), held_out=(), reserve=tuple(STOCK.pool)), SPLIT, STOCK) == []


@pytest.mark.parametrize(
    ("name", "seen", "share", "wanted"),
    [
        ("reveal_more", Seen(failing=(held("one"),)), 0.1, {"one4": "public", "one5": "public"}),
        ("add_cases", Seen(failing=(held("two"),)), 0.25, {"two4": "held_out", "two5": "held_out"}),
        ("drop_unfair", Seen(named=frozenset({"one2", "two3"})), 1.0, {"one2": "dropped", "two3": "dropped"}),
        (
            "narrow_scope",
            Seen(failing=(held("one"), held("one", "two")), aim=Aim(least=1, most=2)),
            0.5,
            {f"one{n}": "dropped" for n in range(EACH)},
        ),
        (
            "drop_case",
            Seen(failing=(frozenset({"one2"}), held("one", "two")), aim=Aim(least=1, most=2)),
            0.5,
            {"one2": "dropped"},
        ),
    ],
)
def test_an_operation_moves_what_the_trials_point_at(name, seen, share, wanted):
    stock = make_stock(acceptance={**RULE, "mutation_score": 0.5, "pool_coverage": 0.5})
    after, why = apply(name, SPLIT, stock, seen, share)
    assert why == ""
    assert changes(after) == wanted


def test_reveal_fewer_keeps_every_family_shown():
    after, _ = apply("reveal_fewer", SPLIT, STOCK, Seen(), 1.0)
    assert set(changes(after).values()) == {"reserve"}
    assert {STOCK.pool[i].family for i in after.public} == set(FAMILIES)
    assert len(after.public) == 4


def test_add_cases_takes_what_kills_a_survivor_first():
    lone = Mutant(id="survivor", path="a.c", line=1, operator="swap", diff="", killers=("three5", "three0"))
    stock = make_stock(kills=dataclasses.replace(STOCK.kills, mutants=(*STOCK.kills.mutants, lone)))
    after, _ = apply("add_cases", SPLIT, stock, Seen(failing=(held("two"),)), 0.1)
    assert changes(after) == {"three5": "held_out"}


def test_an_operation_stops_where_the_aim_is_reached_and_skips_what_would_pass_it():
    trials = (held("one"), held("one"), held("two"), held("two", "three"))
    free = make_stock(acceptance={**RULE, "mutation_score": 0.0, "pool_coverage": 0.0})
    one_or_two = Seen(failing=trials, aim=Aim(least=1, most=1))
    after, _ = apply("narrow_scope", SPLIT, free, one_or_two, 1.0)
    assert {STOCK.pool[i].family for i in changes(after)} == {"two"}
    assert one_or_two.passes(after) == 1


def test_nothing_to_move_is_said():
    full = Split(public=SPLIT.public, held_out=SPLIT.held_out, reserve=(), dropped=SPLIT.reserve)
    assert apply("add_cases", full, STOCK, Seen(), 0.5) == (None, "there is nothing to move")
    assert apply("drop_case", SPLIT, STOCK, Seen(), 0.5) == (None, "there is nothing to move")
    assert apply("drop_flaky", SPLIT, STOCK, Seen(), 1.0) == (None, "there is nothing to move")


def test_an_operation_that_breaks_strength_is_refused():
    seen = Seen(failing=(held("one", "two"),), aim=Aim(least=1, most=1))
    after, why = apply("narrow_scope", SPLIT, STOCK, seen, 0.5)
    assert {STOCK.pool[i].family for i in changes(after)} == {"one"}  # the second family would take the score below 0.7
    after, why = apply("narrow_scope", after, STOCK, seen, 0.5)
    assert after is None
    assert "mutation score 0.50" in why


def test_siblings_are_never_on_both_sides():
    stock = make_stock(groups={**STOCK.groups, "one4": ("one4", "one2"), "one2": ("one4", "one2")})
    after, _ = apply("reveal_more", SPLIT, stock, Seen(failing=(held("one"),)), 0.1)
    moves = changes(after)
    assert ("one4" in moves) == ("one2" in moves)
    assert broken(SPLIT, moved(SPLIT, ["one4"], "public"), stock) == ["one2 is held out and a sibling of it is public"]


def test_named_cases_go_all_or_none():
    few = make_stock(sizes=dataclasses.replace(STOCK.sizes, held_out_min=7))
    after, why = apply("drop_unfair", SPLIT, few, Seen(named=frozenset({"one2", "two2"})), 1.0)
    assert after is None
    assert why == "6 held-out cases, wanted 7 once two2 is in dropped"


FREE = {"mutation_score": 0.0, "pool_coverage": 0.0, "scope_coverage": 0.0, "public_kill_ratio": 0.0}


@pytest.mark.parametrize(
    ("change", "stock", "fault"),
    [
        ({"one0": "reserve", "one1": "reserve"}, {}, "no public case shows it"),
        ({"one4": "held_out"}, {"one4": asks(b"word")}, "one4 is held out and asks what nothing shows"),
        ({"one4": "held_out"}, {"one4": asks(open_only=True)}, "the documentation shows its answer"),
        (dict.fromkeys(SPLIT.held_out[1:], "reserve"), {}, "1 held-out cases, wanted 2"),
        (dict.fromkeys(SPLIT.public[1:], "reserve"), {}, "1 public cases, wanted 2"),
        (dict.fromkeys(SPLIT.reserve, "held_out"), {}, "16 held-out cases, wanted at most 12"),
        (dict.fromkeys(SPLIT.held_out, "reserve"), {}, "no case is held out"),
    ],
)
def test_an_invariant_that_breaks_is_named(change, stock, fault):
    free = make_stock(discovery={**STOCK.discovery, **stock}, acceptance={**RULE, **FREE})
    after = SPLIT
    for case, side in change.items():
        after = moved(after, [case], side)
    assert any(fault in text for text in broken(SPLIT, after, free))


def test_a_fault_that_the_parent_has_is_no_reason_to_refuse():
    stock = make_stock(discovery={**STOCK.discovery, "one2": asks(b"word"), "two4": asks(b"word")})
    assert broken(SPLIT, moved(SPLIT, ["three4"], "held_out"), stock) == []
    assert broken(SPLIT, moved(SPLIT, ["two4"], "held_out"), stock) != []


def test_cases_cannot_come_from_outside_or_come_back():
    alien = Split(public=SPLIT.public, held_out=(*SPLIT.held_out, "alien"), reserve=SPLIT.reserve)
    assert broken(SPLIT, alien, STOCK)[0] == "the cases are not those of the parent"
    assert "nothing captured its expected side" in broken(alien, alien, STOCK)[0]
    gone = moved(SPLIT, ["one4"], "dropped")
    assert "a dropped case is back" in broken(gone, moved(gone, ["one4"], "held_out"), STOCK)
    twice = dataclasses.replace(SPLIT, reserve=(*SPLIT.reserve, "one0"))
    assert "a case is on two sides" in broken(SPLIT, twice, STOCK)


def test_an_expected_side_that_too_many_would_share_stays_in_reserve():
    same = dataclasses.replace(STOCK.pool["one4"], expected=STOCK.pool["one2"].expected)
    stock = make_stock(pool={**STOCK.pool, "one4": same})
    assert settle(moved(SPLIT, ["one4"], "held_out"), stock) == SPLIT
    after, _ = apply("add_cases", SPLIT, stock, Seen(failing=(held("one"),)), 0.25)
    assert "one4" not in changes(after)


@pytest.mark.parametrize("name", KINDS)
def test_every_operation_keeps_the_pool_and_its_answers(name):
    seen = Seen(
        failing=(held("one"), held("one", "two"), frozenset({"three2"})),
        named=frozenset({"one2", "four3"}),
        aim=Aim(least=2, most=3),
    )
    after, _ = apply(name, SPLIT, STOCK, seen, 0.3)
    assert after is not None
    assert sorted(i for side in SIDES for i in getattr(after, side)) == sorted(STOCK.pool)
    assert broken(SPLIT, after, STOCK) == []
    assert apply(name, SPLIT, STOCK, seen, 0.3)[0] == after


def test_a_strength_that_is_short_already_does_not_get_shorter():
    strict = make_stock(acceptance={**RULE, "mutation_score": 1.01})
    weaker = moved(SPLIT, [i for i in SPLIT.held_out if strict.pool[i].family == "one"], "reserve")
    assert any("mutation score" in fault for fault in broken(SPLIT, weaker, strict))
    assert broken(weaker, SPLIT, strict) == []
