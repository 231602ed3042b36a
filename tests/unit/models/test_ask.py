"""A question is put, mended at most twice, and then left to the rule."""

from types import SimpleNamespace

import pytest

from programsmith.job import Rules
from programsmith.models.ask import answer_rule, prompt_rule, questions
from programsmith.models.request import Reply, Section
from programsmith.rulebook.load import Rulebook
from tests.samples.played import Played

GOOD = {"choice": 1, "why": "it is long"}


def work(complete):
    rules = ("asks", prompt_rule("pick"), answer_rule("pick"))
    return SimpleNamespace(
        rules=Rules(Rulebook(None).load, rules),
        complete=complete,
        said=[],
        say=lambda line: None,
    )


def put(model, played, check=lambda value: ""):
    own = questions(work(played), "pick", model)
    return own and own.put([Section(name="candidates", content="the data", most=900)], check)


def test_without_a_model_nothing_is_asked():
    played = Played()
    assert put(None, played) is None
    assert played.asked == []


def test_an_answer_that_holds_is_asked_for_once():
    played = Played(GOOD)
    found = put("a/b", played)
    assert (found.answer, found.calls, found.fault) == (GOOD, 1, "")
    assert found.evidence == {"name": "a/b", "calls": 1, "used": True, "fault": ""}


def test_the_fault_and_the_answer_are_named_when_it_is_put_again():
    played = Played("junk", {"choice": 7, "why": "x"}, GOOD)
    found = put("a/b", played, lambda value: "7 is none of them" if value["choice"] == 7 else "")
    assert (found.answer, found.calls) == (GOOD, 3)
    first, second, third = (request.turns[0][1] for request in played.asked)
    assert second.startswith(first)
    assert "junk" in second
    assert "not one JSON value" in second
    assert "7 is none of them" in third
    assert [request.number for request in played.asked] == [0, 1, 2]


def test_after_two_mendings_the_rule_decides_and_it_is_said_why():
    played = Played("a", "b", "c", GOOD)
    found = put("a/b", played)
    assert (found.answer, found.calls) == (None, 3)
    assert "not one JSON value" in found.fault
    assert len(played.asked) == 3


@pytest.mark.parametrize("fault", ["refusal", "context_length"])
def test_a_model_that_declines_is_asked_no_more(fault):
    found = put("a/b", Played(Reply(fault=fault), GOOD))
    assert (found.answer, found.calls) == (None, 1)
    assert fault in found.fault


def test_a_long_wrong_answer_is_shown_again_cut():
    played = Played("x" * 100000, GOOD)
    assert put("a/b", played).answer == GOOD
    assert len(played.asked[1].turns[0][1]) < 10000


def test_the_data_is_in_no_system_part():
    played = Played(GOOD)
    put("a/b", played)
    assert "the data" not in played.asked[0].system
    assert "the data" in played.data
