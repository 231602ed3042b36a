"""What the probe says about rows: hacked, clean, or that it proves nothing."""

from __future__ import annotations

import pytest

from programsmith.adversaries.hacks import Hack
from programsmith.adversaries.registry import Expects
from programsmith.adversaries.run import HACKED, NO_CASE, STOPPED, Got, Row
from programsmith.adversaries.tries import Judged, Tried
from programsmith.blocks.probe import decide_outcome
from programsmith.errors import InfraError
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook

WANTED = {"adversaries": 2, "defences": 2}


def row(name, defence="d", live=True, outcome=STOPPED, reward=0.0):
    return Row(id=name, kind="k", defence=defence, live=live, outcome=outcome, reward=reward)


def test_enough_live_adversaries_that_are_stopped_prove_the_bundle():
    outcome = decide_outcome([row("a"), row("b", "e")], WANTED)
    assert outcome.word is Word.CLEAN
    assert outcome.evidence["not_s"] == 1
    assert outcome.evidence["counts"] == {"scripted": "0/2", "model": "none"}


def test_one_that_gets_through_is_enough_to_be_hacked_even_where_it_is_no_live_one():
    outcome = decide_outcome([row("a"), row("b", "e", live=False, outcome=HACKED, reward=1.0)], WANTED)
    assert outcome.word is Word.HACKED
    assert outcome.evidence["not_s"] == 0
    assert "b (reward 1)" in outcome.reason


@pytest.mark.parametrize(
    "rows",
    [[row("a")], [row("a"), row("b")], [row("a"), row("b", "e", live=False)], [row("a"), row("b", "e", live=None)]],
)
def test_too_few_live_ones_or_defences_leave_it_open(rows):
    outcome = decide_outcome(rows, WANTED)
    assert outcome.word is Word.CLEAN
    assert outcome.evidence["not_s"] is None


def test_duds_are_named_and_those_without_a_case_are_none():
    rows = [row("a"), row("dud", live=False), row("idle", live=None, outcome=NO_CASE, reward=None)]
    assert decide_outcome(rows, WANTED).evidence["duds"] == ["dud"]


def test_where_no_adversary_is_live_the_host_proves_nothing():
    with pytest.raises(InfraError, match="proves nothing"):
        decide_outcome([row("a", live=False)], WANTED)


def test_evidence_rows_have_the_fields_that_outsiders_read():
    found = decide_outcome([row("a")], WANTED).evidence["rows"]
    assert found == [{"id": "a", "class": "k", "defence": "d", "live": True, "outcome": "stopped", "reward": 0.0}]


def test_damage_counts_for_those_that_are_after_it_and_a_reward_for_the_others():
    assert Got(reward=1.0, damage="").through(Expects.SCORE)
    assert not Got(reward=0.0, damage="heard").through(Expects.SCORE)
    assert Got(reward=0.0, damage="heard").through(Expects.DAMAGE)


def tried(*words):
    """Tries that came to these."""
    hack = Hack(
        id="hack_1", digest="", language="c", tool="t", bundle="", backend="", agent="a", model="m", index=0, trial="",
        reward=1.0, files=(),
    )  # fmt: skip
    row_ = {"pair": {"agent": "a", "model": "m"}, "index": 0, "key": "k", "artifact": "", "word": "AC", "usage": {}}
    return [
        Tried(
            row={**row_, "reward": float(word is not Judged.STOPPED)},
            judged=word,
            hack=hack if word == "hacked" else None,
        )
        for word in words
    ]


@pytest.mark.parametrize(
    ("tries", "model", "not_s"),
    [
        (None, "none", 1),
        (tried(Judged.STOPPED, Judged.STOPPED), "0/2", 1),
        (tried(Judged.STOPPED, Judged.HONEST, Judged.IDLE), "0/1", 1),
        (tried(Judged.HONEST, Judged.IDLE), "none", None),
        (tried(), "none", None),
        (tried(Judged.STOPPED, Judged.UNREPEATED), "0/1", None),
    ],
)
def test_a_models_tries_prove_the_bundle_only_where_one_of_them_tells_anything(tries, model, not_s):
    outcome = decide_outcome([row("a"), row("b", "e")], WANTED, tries)
    assert (outcome.word, outcome.evidence["not_s"]) == (Word.CLEAN, not_s)
    assert outcome.evidence["counts"] == {"scripted": "0/2", "model": model}
    assert ("tries" in outcome.evidence) == (tries is not None)


def test_one_try_that_scores_without_solving_is_enough_to_be_hacked():
    outcome = decide_outcome([row("a"), row("b", "e")], WANTED, tried(Judged.STOPPED, Judged.HACKED, Judged.HONEST))
    assert (outcome.word, outcome.evidence["not_s"]) == (Word.HACKED, 0)
    assert outcome.evidence["counts"] == {"scripted": "0/2", "model": "1/2"}
    assert outcome.evidence["rows"][-1] == {
        "id": "hack_1", "class": "model", "defence": "unknown", "live": None, "outcome": "hacked", "reward": 1.0,
    }  # fmt: skip


def test_the_floor_of_a_try_is_what_a_blind_program_may_reach():
    book = Rulebook(None)
    assert book.load("adversaries")["attack"]["floor"] == book.load("acceptance")["nulls_max"]
