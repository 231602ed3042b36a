"""Inputs that a model proposes: plain, new, and without any expectation."""

import json

import pytest
from jsonschema import Draft202012Validator

from programsmith.goldens.gates.bounds import input_reason
from programsmith.goldens.proposals import inputs, proposals
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.records.golden import Recorded
from programsmith.rulebook.load import Rulebook
from tests.samples.stock import SPLIT, STOCK

SCHEMA = Rulebook(None).load("schema/answer_goldens.json")
MODEL = "a/b"


def made(*rows, known=()):
    told = {"cases": list(rows)}
    Draft202012Validator(SCHEMA).validate(told)
    return proposals(told, MODEL, "MIT", known)


def test_a_proposal_is_a_case_that_expects_nothing():
    (found,) = made(
        {"argv": ["sum", "--by=a"], "stdin": "a,b\n", "files": [{"path": "d/x.csv", "content": "\u00e9"}]}
    ).cases
    assert found.case == Case(
        argv=(b"sum", b"--by=a"), stdin=b"a,b\n", files=(FileEntry(b"d/x.csv", content=b"\xc3\xa9"),)
    )
    assert found.recorded == Recorded()
    assert (found.provenance.miner, found.provenance.licence, found.provenance.made) == ("model", "MIT", "1 of a/b")
    assert input_reason(found.case, Rulebook(None).load("goldens")["size"]) is None


@pytest.mark.parametrize(
    "side", ["expected", "stdout", "exit_code", "expected_stdout", "expected_files", "env", "output", "recorded"]
)
def test_no_answer_can_say_what_comes_out(side):
    faults = list(Draft202012Validator(SCHEMA).iter_errors({"cases": [{"argv": ["x"], side: "42"}]}))
    assert [side in fault.message for fault in faults] == [True]


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({"argv": ["/etc/passwd"]}, "outside"),
        ({"argv": ["--file=/etc/passwd"]}, "outside"),
        ({"argv": ["-f/etc/passwd"]}, "outside"),
        ({"argv": ["-I../up"]}, "outside"),
        ({"argv": ["@/etc/passwd"]}, "outside"),
        ({"argv": ["../up"]}, "outside"),
        ({"argv": ["a/../../up"]}, "outside"),
        ({"argv": ["~root"]}, "outside"),
        ({"argv": ["x"], "files": [{"path": "/etc/passwd", "content": ""}]}, "path"),
        ({"argv": ["x"], "files": [{"path": "../up", "content": ""}]}, "path"),
        ({"argv": ["x"], "files": [{"path": "a\nb", "content": ""}]}, "path"),
        ({"argv": ["x"], "files": [{"path": "-rf", "content": ""}]}, "path"),
        ({"argv": ["x"], "files": [{"path": "a", "content": ""}, {"path": "a/b", "content": ""}]}, "path"),
        ({"argv": ["x"], "files": [{"path": "a", "content": ""}, {"path": "a", "content": "1"}]}, "text"),
        ({"argv": ["a\u0000b"]}, "text"),
        ({"argv": ["\ud800"]}, "text"),
    ],
)
def test_what_is_no_plain_input_is_counted_and_the_rest_is_kept(row, word):
    found = made(row, {"argv": ["fine"]})
    assert dict(found.tried) == {word: 1}
    assert [one.case.argv for one in found.cases] == [(b"fine",)]


def test_an_input_that_is_known_or_said_twice_is_none():
    found = made({"argv": ["a"]}, {"argv": ["b"]}, {"argv": ["b"]}, known=[Case(argv=(b"a",))])
    assert [one.case.argv for one in found.cases] == [(b"b",)]
    assert dict(found.tried) == {"known": 2}


def test_inputs_of_one_fixture_are_siblings():
    file = [{"path": "x", "content": "1"}]
    first, second, other = made({"argv": ["a"], "files": file}, {"argv": ["b"], "files": file}, {"argv": ["c"]}).cases
    assert first.group == second.group != other.group


def test_a_model_is_shown_inputs_of_the_public_side_and_counts_of_all():
    shown = json.loads(inputs(list(STOCK.pool.values()), SPLIT.public))
    assert len(shown["inputs"]) == len(SPLIT.public)
    assert sum(shown["families"].values()) == len(STOCK.pool)
    argv = [row["argv"] for row in shown["inputs"]]
    assert argv == [[w.decode() for w in g.case.argv] for g in STOCK.pool.values() if g.id in SPLIT.public]
