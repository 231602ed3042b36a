"""A model chooses operations: within what is offered and its bounds, and never in place of what must be mended."""

import dataclasses
import json

import pytest

from programsmith.blocks.synthesize import decide, fault, offers, sections, wish
from programsmith.models.ask import Asked
from programsmith.records.outcome import Word
from programsmith.records.revision import Lineage
from programsmith.verdict.policy import Parent, choose, need_of, rungs
from tests.unit.test_verdict_policy import BANDS, EASY, HARD, RULE, SATURATED, SPLIT, calibrated, names, used

HARDEN = need_of(calibrated(SATURATED, 0.0, 0.4), RULE, BANDS.repeatable)
EASE = need_of(calibrated(HARD, 0.4, 0.9), RULE, BANDS.repeatable)


def parent(lineage=None):
    return Parent(split=SPLIT, lineage=lineage or Lineage(), made=1)


def told(*operations):
    return {"operations": [{"name": name, "share": share} for name, share in operations], "why": "x"}


def test_a_wish_goes_before_the_ladder_and_what_is_left_follows():
    assert list(rungs(EASE, RULE, {"drop_case": 0.05})) == ["drop_case", "reveal_more", "narrow_scope"]
    assert rungs(EASE, RULE, {"drop_case": 0.05})["drop_case"] == 0.05
    assert list(rungs(EASE, RULE, {})) == RULE["ladders"]["ease"]


def test_the_policy_takes_what_is_wished_for_and_no_more_of_it():
    one = {**RULE, "saturated_rungs": 1}
    assert names(choose(HARDEN, parent(), EASY, one)) == ["reveal_fewer"]
    found = choose(HARDEN, parent(), EASY, one, {"add_cases": 0.1})
    assert names(found) == ["add_cases"]
    most = choose(HARDEN, parent(), EASY, one, {"add_cases": 0.5})
    assert 0 < len(found.lineage.operations[0].moves) < len(most.lineage.operations[0].moves)


@pytest.mark.parametrize("bad", [{"add_cases": 1.0}, {"drop_case": 0.1}, {"reveal_everything": 1.0}])
def test_a_wish_that_is_not_offered_is_none(bad):
    """The code that applies it holds, whoever let it through before."""
    ladder = RULE["ladders"]["harden"]
    assert sorted(rungs(HARDEN, RULE, bad)) == sorted(ladder)
    assert all(share <= RULE["operations"][name]["share"] for name, share in rungs(HARDEN, RULE, bad).items())


def test_what_must_be_mended_comes_before_any_wish():
    strengthen = {**RULE, "ladders": {**RULE["ladders"], "harden": ["drop_undiscoverable", "add_cases", "reveal_more"]}}
    assert next(iter(rungs(HARDEN, strengthen, {"reveal_more": 0.1}))) == "drop_undiscoverable"
    assert "drop_undiscoverable" not in offers(HARDEN, parent(), strengthen)


def test_what_is_used_up_or_unearned_is_not_offered():
    assert offers(HARDEN, parent(), RULE) == {"reveal_fewer": 0.3, "add_cases": 0.5}
    assert offers(HARDEN, parent(used("reveal_fewer")), RULE) == {"add_cases": 0.5}
    assert offers(dataclasses.replace(HARDEN, unearned=True), parent(), RULE) == {}


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (told(("add_cases", 0.5)), ""),
        (told(("drop_case", 0.1)), "operations: wanted some of reveal_fewer, add_cases; got 'drop_case'"),
        (told(("add_cases", 0.51)), "add_cases: wanted a share of at most 0.5, got 0.51"),
        (told(("add_cases", 0.1), ("add_cases", 0.2)), "operations: wanted each once"),
    ],
)
def test_an_answer_is_held_to_what_is_offered(answer, says):
    assert fault(answer, offers(HARDEN, parent(), RULE)) == says


def test_a_model_sees_families_and_no_case():
    shown = "".join(str(section.content) for section in sections(EASE, parent(), EASY, offers(EASE, parent(), RULE)))
    assert not [case for case in EASY.pool if json.dumps(case) in shown]
    assert '"one"' in shown
    assert "reveal_more" in shown


def test_the_record_tells_who_was_asked_and_what_was_wished_for():
    asked = Asked(model="a/b", answer=told(("add_cases", 0.2)), calls=1, fault="")
    found = decide(HARDEN, choose(HARDEN, parent(), EASY, RULE, wish(asked)), 1, asked)
    assert found.word is Word.REVISED
    assert found.evidence["model"]["wish"] == {"add_cases": 0.2}
    none = Asked(model="a/b", answer=None, calls=3, fault="junk")
    assert wish(none) == {}
    assert "model" not in decide(HARDEN, choose(HARDEN, parent(), EASY, RULE), 1).evidence
