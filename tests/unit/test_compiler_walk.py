from __future__ import annotations

import dataclasses

import pytest

from programsmith.compiler.plan import ATTACKS, STEPS, TRIED, Step, attacked
from programsmith.compiler.walk import Due, Walk, Ways
from programsmith.records.outcome import Record, Word
from programsmith.records.trial import Assignment
from programsmith.rulebook.load import Rulebook
from programsmith.verdict.routes import Routes

ROUTES = Routes(Rulebook(None).load("routes"))
SIZES = {"rollouts": (2, 1), "sweep": (1, 1)}
YES = {
    "pick": Word.PICKED,
    "export": Word.EXPORTED,
    "gate": Word.SHIP,
    "probe": Word.CLEAN,
    "synthesize": Word.REVISED,
    "calibrate": Word.IN_BAND,
    "sweep": Word.IN_BAND,
} | dict.fromkeys(("trial", "grade", "rollouts", "triage"), Word.DONE)
MADE = ["ingest", "matrix", "pick", "oracle", "goldens", "create"]
PROVEN = ["images strength", "sanity static"]
JUDGED = ["rollouts", "triage", "calibrate"]
PROBED = ["probe"] if any(step.block == "probe" for step in STEPS) else []
TRIALS = ["trial:s:m:0 trial:s:m:1", "grade:s:m:0 grade:s:m:1"]


def which(index: int, batch: int, agent: str = "s") -> Assignment:
    return Assignment(agent=agent, model="m", index=index, batch=batch, ceiling=False)


def trials(basis: str, batch: int) -> tuple[Assignment, ...]:
    """Two trials, then one more per batch, three batches at most; one of a sweep."""
    if basis == "sweep":
        return (which(0, 0, "w"),) if batch == 0 else ()
    return (which(0, 0), which(1, 0)) if batch == 0 else (which(batch + 1, batch),) if batch < 3 else ()


def go(asked: tuple[str, ...] = (), revisions: int = 3, **said: list[Word]) -> list[str]:
    """The passes, each as the tasks that it holds; a block says the words of `said` one after the other, then yes."""

    def wants(step: Step) -> bool:
        return not step.when or bool(set(step.when) & set(asked))

    walk = Walk(STEPS, Ways(route=ROUTES.go, wants=wants, trials=trials, revisions=revisions))
    found = []
    while due := walk.due():
        found.append(" ".join(one.key for one in due))
        for one in due:
            words = said.get(one.step.block)
            walk.settle(one, record(one.step.block, words.pop(0) if words else YES.get(one.step.block, Word.PASS)))
        walk.advance()
    return found


def record(block: str, word: Word) -> Record:
    return Record(block=block, outcome=word, reason="", evidence={}, inputs={}, seconds=0.0)


def test_a_draft_knows_no_trials() -> None:
    assert go() == [*MADE, *PROVEN, "gate", "export"]


def test_a_no_before_images_ends_the_spec() -> None:
    assert go(ingest=[Word.REJECT], gate=[Word.DROP]) == ["ingest", "gate"]


def test_a_task_that_is_shelved_is_exported() -> None:
    assert go(revisions=0, sanity=[Word.FAIL], gate=[Word.SHELVE_EASY])[-2:] == ["gate", "export"]


@pytest.mark.parametrize("block", ["images", "strength", "sanity", "static"])
def test_a_no_of_a_bundle_makes_the_next_revision_and_buys_no_trial(block: str) -> None:
    word = {"images": Word.UNBUILDABLE, "strength": Word.TOO_WEAK}.get(block, Word.FAIL)
    first = PROVEN[:1] if block in PROVEN[0] else PROVEN
    after = [*PROVEN, *TRIALS, *JUDGED, *PROBED, "gate", "export"]
    assert go(("rollouts",), **{block: [word]}) == [*MADE, *first, "synthesize", *after]


def test_trials_then_grades_then_their_judgement() -> None:
    assert go(("rollouts",)) == [*MADE, *PROVEN, *TRIALS, *JUDGED, *PROBED, "gate", "export"]


def test_more_adds_one_batch_and_judges_all_trials_again() -> None:
    second = ["trial:s:m:2", "grade:s:m:2", *JUDGED]
    third = ["trial:s:m:3", "grade:s:m:3", *JUDGED]
    passes = go(("rollouts",), calibrate=[Word.MORE, Word.MORE])
    assert passes == [*MADE, *PROVEN, *TRIALS, *JUDGED, *second, *third, *PROBED, "gate", "export"]


def test_more_than_the_spec_has_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="more trials are wanted after batch 2; none are left"):
        go(("rollouts",), calibrate=[Word.MORE] * 3)


def test_a_revision_starts_with_its_first_batch_at_images() -> None:
    passes = go(("rollouts",), calibrate=[Word.MORE, Word.HARDEN])
    again = [*PROVEN, *TRIALS, *JUDGED, *PROBED, "gate", "export"]
    assert passes[passes.index("synthesize") + 1 :] == again


@pytest.mark.parametrize("revisions", [0, 1, 2])
def test_no_more_revisions_are_made_than_the_spec_allows(revisions: int) -> None:
    passes = go(("rollouts",), revisions, calibrate=[Word.EASE] * 9, gate=[Word.SHELVE_HARD])
    assert passes.count("synthesize") == revisions
    assert passes[-2:] == ["gate", "export"]


def test_where_synthesis_gives_up_the_gate_closes() -> None:
    passes = go(("rollouts",), calibrate=[Word.EASE], synthesize=[Word.GAVE_UP], gate=[Word.DROP])
    assert passes[-3:] == ["calibrate", "synthesize", "gate"]


def test_a_sweep_is_bought_when_rollouts_are_in_band() -> None:
    swept = ["trial:w:m:0", "grade:w:m:0", "sweep"]
    assert go(("rollouts", "sweep")) == [*MADE, *PROVEN, *TRIALS, *JUDGED, *PROBED, *swept, "gate", "export"]
    assert "trial:w:m:0" not in go(("rollouts", "sweep"), revisions=0, calibrate=[Word.HARDEN], gate=[Word.DROP])


def test_an_adversarys_tries_are_bought_once_and_judged_by_the_probe_alone() -> None:
    steps = [attacked(step) if step.attacks else step for step in STEPS]
    own = dataclasses.replace(which(0, 0, "w"), adversary=True)

    def given(basis: str, batch: int) -> tuple[Assignment, ...]:
        return trials(basis, batch) if basis != ATTACKS else (own,) if batch == 0 else ()

    walk = Walk(steps, Ways(route=ROUTES.go, wants=lambda step: step.block != "sweep", trials=given, revisions=0))
    found: list[Due] = []
    while due := walk.due():
        found += due
        for one in due:
            if one.step.block == "probe":
                assert sorted(walk.records(one.step)) == ["grade:adversary:w:m:0", "trial:adversary:w:m:0"]
                assert (one.batch, one.trials) == (None, (own,))
            elif one.step.block == "rollouts":
                assert not any("adversary" in name for name in walk.records(one.step))
            walk.settle(one, record(one.step.block, YES.get(one.step.block, Word.PASS)))
        walk.advance()
    keys = [one.key for one in found]
    assert keys[keys.index("calibrate") :] == [
        "calibrate", "trial:adversary:w:m:0", "grade:adversary:w:m:0", "probe", "gate", "export",
    ]  # fmt: skip
    prompts = {one.key: "prompts/adversary.md" in one.step.rules for one in found if one.step.block == "trial"}
    assert prompts == {"trial:s:m:0": False, "trial:s:m:1": False, "trial:adversary:w:m:0": True}


def test_each_step_gets_the_records_that_its_row_names() -> None:
    walk = Walk(STEPS, Ways(route=ROUTES.go, wants=lambda step: True, trials=trials, revisions=3))
    got = {}
    while due := walk.due():
        for one in due:
            got[one.step.block] = sorted(walk.records(one.step))
        for one in due:
            walk.settle(one, record(one.step.block, YES.get(one.step.block, Word.PASS)))
        walk.advance()
    rollouts = ["grade:s:m:0", "grade:s:m:1", "trial:s:m:0", "trial:s:m:1"]
    assert got["rollouts"] == rollouts
    assert got["triage"] == ["rollouts"]
    assert got["calibrate"] == ["triage"]
    assert got["sweep"] == ["grade:w:m:0", "rollouts", "trial:w:m:0"]
    assert got["sanity"] == []
    assert got["gate"] == sorted([*MADE, *JUDGED, *PROBED, "images", "sanity", "static", "strength", "sweep"])
    assert TRIED == ("rollouts", "sweep")
