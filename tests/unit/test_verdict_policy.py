"""The ladder of the rule against simulated trials: which operation makes the next revision, and when there is none."""

import dataclasses

import pytest

from programsmith.errors import InputError
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.records.revision import Lineage, Operation
from programsmith.rulebook.load import Rulebook
from programsmith.verdict.bands import demands, judge_bands
from programsmith.verdict.discovery import lacks
from programsmith.verdict.policy import Parent, aim_of, choose, need_of
from programsmith.verdict.triage import Ground, triage
from tests.samples.stock import FAMILIES, SPLIT, changes, held, make_stock
from tests.samples.trials import BANDS, attempt
from tests.samples.trials import RULE as TRIAGE

RULE = Rulebook(None).load("operations")
EASY = make_stock(acceptance={**make_stock().acceptance, "mutation_score": 0.5, "pool_coverage": 0.5})


def record(block, word, **evidence):
    return Record(block=block, outcome=word, reason="because", evidence=evidence, inputs={}, seconds=0.0)


def labelled(attempts, stock=EASY, split=SPLIT):
    ground = Ground(
        public=split.public,
        held_out=split.held_out,
        families={i: g.family for i, g in stock.pool.items()},
        lacks=lacks(split.public, split.held_out, stock.discovery, stock.kills),
    )
    return triage(attempts, ground, TRIAGE, {})


def calibrated(attempts, low, high, stock=EASY):
    """The records of triage and calibrate over these trials."""
    labels = labelled(attempts, stock)
    band = {"basis": "rollouts", "pass_rate": {"min": low, "max": high}, "confidence": 0.8, "trials_max": 6}
    found = judge_bands(demands([band]), "rollouts", labels, BANDS)
    return {
        "triage": record("triage", Word.DONE, labels=codec.encode(labels)),
        "calibrate": record("calibrate", found.word, **found.evidence),
    }


def choice(records, lineage=None, stock=EASY, rule=RULE):
    parent = Parent(split=SPLIT, lineage=lineage or Lineage(), made=1)
    return choose(need_of(records, rule, BANDS.repeatable), parent, stock, rule)


def used(*names):
    made = Operation(made=1, name="", need="", cause="", moves=(), before={}, after={})
    return Lineage(operations=tuple(dataclasses.replace(made, name=name) for name in names))


def trials(*failing):
    """One trial for each set of families; it fails the public cases of them too."""
    return [
        attempt(i, held(*families), [c for c in SPLIT.public if EASY.pool[c].family in families])
        for i, families in enumerate(failing)
    ]


SATURATED = trials(*[()] * 6)
HARD = trials(("one",), ("one",), ("one",), ("one", "two"), ("two", "three"), FAMILIES)


def names(found):
    return [op.name for op in found.lineage.operations]


def test_a_saturated_task_is_hardened_rung_by_rung_until_nothing_is_left():
    records = calibrated(SATURATED, 0.0, 0.4)
    assert records["calibrate"].outcome is Word.HARDEN
    first = choice(records)
    assert names(first) == ["reveal_fewer", "add_cases"]
    assert set(changes(first.split).values()) == {"reserve", "held_out"}
    one = choice(records, rule={**RULE, "saturated_rungs": 1})
    assert names(one) == ["reveal_fewer"]
    assert set(changes(one.split).values()) == {"reserve"}
    second = choice(records, lineage=used("reveal_fewer"))
    assert names(second)[1:] == ["add_cases"]
    assert set(changes(second.split).values()) == {"held_out"}
    last = choice(records, lineage=used("reveal_fewer", *["add_cases"] * 3))
    assert last.split is None
    assert [(r.name, r.why) for r in last.refused] == [
        ("reveal_fewer", "it was used 1 times"),
        ("add_cases", "it was used 3 times"),
    ]


def test_a_task_that_some_fail_is_hardened_by_one_rung():
    records = calibrated(trials(*[()] * 5, ("one",)), 0.0, 0.4)
    assert records["calibrate"].outcome is Word.HARDEN
    assert names(choice(records)) == ["reveal_fewer"]


def test_a_hard_task_is_eased_until_the_trials_that_are_known_would_lie_in_the_band():
    records = calibrated(HARD, 0.4, 0.9)
    assert records["calibrate"].outcome is Word.TOO_HARD
    assert names(choice(records)) == ["reveal_more"]
    narrowed = choice(records, lineage=used("reveal_more", "reveal_more"))
    (done,) = narrowed.lineage.operations[2:]
    assert done.name == "narrow_scope"
    assert {move.family for move in done.moves} == {"one"}
    assert (done.before["passes"], done.after["passes"], done.after["trials"]) == (0, 3, 6)


def test_a_refused_rung_is_named_and_the_next_is_tried():
    strict = make_stock()
    records = calibrated(HARD, 0.4, 0.9)
    records = {**records, "calibrate": record("calibrate", Word.EASE, bands=records["calibrate"].evidence["bands"])}
    brittle = {**strict.acceptance, "pool_coverage": 1.0}
    found = choice(records, lineage=used("reveal_more", "reveal_more"), stock=make_stock(acceptance=brittle))
    assert names(found)[2:] == ["drop_case"]
    assert [r.name for r in found.refused] == ["reveal_more", "narrow_scope"]
    assert "pool coverage" in found.refused[1].why


def test_the_same_records_give_the_same_choice():
    records = calibrated(HARD, 0.4, 0.9)
    assert choice(records) == choice(records)


def test_a_planted_case_that_nothing_shows_is_taken_out():
    asks = dataclasses.replace(EASY.discovery["one2"], needs=(b"a word of its own",))
    planted = make_stock(discovery={**EASY.discovery, "one2": asks}, acceptance=EASY.acceptance)
    labels = labelled([attempt(i, ["one2"]) for i in range(6)], planted)
    assert {t.label.value for t in labels.trials} == {"bad_failure"}
    found = choice({"triage": record("triage", Word.DEFECT, labels=codec.encode(labels))}, stock=planted)
    assert names(found) == ["drop_undiscoverable"]
    assert changes(found.split) == {"one2": "dropped"}
    weak = {"strength": record("strength", Word.TOO_WEAK, undiscoverable=["one2"])}
    assert changes(choice(weak, stock=planted).split) == {"one2": "dropped"}


def test_a_case_that_nobody_can_pass_is_taken_out_with_one_that_nothing_shows():
    asks = dataclasses.replace(EASY.discovery["one2"], needs=(b"a word of its own",))
    planted = make_stock(discovery={**EASY.discovery, "one2": asks}, acceptance=EASY.acceptance)
    tried = [attempt(0, ["one2"]), attempt(1, ["two2"]), attempt(2, ["two2", "one2"])]
    labels = labelled([*tried, attempt(0, ["two2"], ceiling=True)], planted)
    assert labels.trials[1].label.value == "good_failure"  # trial 0 passes it
    labels = labelled([attempt(1, ["two2", "one2"]), attempt(0, ["two2"], ceiling=True)], planted)
    assert [t.proof for t in labels.trials] == ["out_of_reach", "out_of_reach"]
    found = choice({"triage": record("triage", Word.DEFECT, labels=codec.encode(labels))}, stock=planted)
    assert names(found) == ["drop_undiscoverable", "drop_unfair"]
    assert changes(found.split) == {"one2": "dropped", "two2": "dropped"}


def test_a_reward_that_was_not_earned_is_mended_by_no_choice_of_cases():
    labels = labelled([attempt(0, public=list(SPLIT.public)), attempt(1, ["one2"])])
    found = choice({"triage": record("triage", Word.DEFECT, labels=codec.encode(labels))})
    assert (found.split, found.refused) == (None, ())


@pytest.mark.parametrize(
    ("block", "word"), [("images", Word.UNBUILDABLE), ("static", Word.FAIL), ("probe", Word.HACKED)]
)
def test_what_no_operation_mends_is_given_up(block, word):
    assert choice({block: record(block, word)}).split is None


def test_a_case_that_a_control_fails_on_is_taken_out():
    rows = [{"id": "golden_replay", "fault": "x", "failing": ["one0", "two2"]}, {"id": "nop", "fault": ""}]
    found = choice({"sanity": record("sanity", Word.FAIL, controls=rows)})
    assert changes(found.split) == {"one0": "dropped", "two2": "dropped"}


def test_trials_without_a_label_ask_for_more_to_be_shown():
    lone = [attempt(0), attempt(1), *[attempt(i, ["one2", "two2"]) for i in range(2, 4)]]
    alone = [attempt(i, ["one2"]) for i in range(6)]
    assert {t.label.value for t in labelled(lone).trials} == {"good_success", "good_failure"}
    labels = labelled(alone)
    records = {
        "triage": record("triage", Word.DONE, labels=codec.encode(labels)),
        "calibrate": record("calibrate", Word.BROKEN, bands=[], unlabelled=1.0),
    }
    found = choice(records)
    assert names(found) == ["reveal_more"]
    assert {EASY.pool[i].family for i in changes(found.split)} == {"one"}


def test_a_band_on_one_pair_is_aimed_at_by_its_trials_alone():
    other = [attempt(i, agent="other") for i in range(6)]
    both = labelled([*HARD, *other])
    row = {
        "pair": "command/m", "standing": "too_hard", "pass_rate": [0.4, 0.9], "confidence": 0.8, "trials_max": 6,
    }  # fmt: skip
    records = {
        "triage": record("triage", Word.DONE, labels=codec.encode(both)),
        "calibrate": record("calibrate", Word.EASE, bands=[row]),
    }
    found = choice(records, lineage=used("reveal_more", "reveal_more"))
    assert found.lineage.operations[-1].after["trials"] == 6


@pytest.mark.parametrize(
    ("limits", "least", "most"), [((0.0, 0.4), 1, 1), ((0.1, 0.9), 3, 5), ((0.8, 1.0), 6, 6), ((0.45, 0.55), 3, 3)]
)
def test_the_aim_is_the_surest_number_of_passes_in_the_band(limits, least, most):
    row = {"pass_rate": list(limits), "confidence": 0.8, "trials_max": 12}
    assert (aim_of(row, 6).least, aim_of(row, 6).most) == (least, most)


def test_without_a_band_one_pass_is_enough():
    assert (aim_of(None, 6).least, aim_of(None, 6).most) == (1, 6)


def test_the_first_block_that_refused_decides():
    records = {"calibrate": record("calibrate", Word.EASE), "strength": record("strength", Word.TOO_WEAK)}
    assert need_of(records, RULE, ()).cause == "strength too_weak"
    with pytest.raises(InputError, match=r"operations.yaml: needs: wanted a ladder .* got none for images pass"):
        need_of({"images": record("images", Word.PASS)}, RULE, ())


def test_the_rule_has_a_ladder_for_every_no_from_images_on():
    routes = Rulebook(None).load("routes")
    asked = {(b, w) for b, words in routes.items() for w, to in words.items() if to == "synthesize" and b != "gate"}
    assert {(b, w) for b, words in RULE["needs"].items() for w in words} == asked
    assert {name for ladder in RULE["ladders"].values() for name in ladder} == set(RULE["operations"])
