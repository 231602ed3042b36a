"""Which candidate becomes the task."""

import pytest

from programsmith.blocks import pick
from programsmith.compiler.plan import STEP, asking
from programsmith.job import Job, Rules, Tracked
from programsmith.records import codec
from programsmith.records.lock import Candidate, EntryPoint
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from tests.samples.played import Played


def candidate(tool, score, language="python"):
    return Candidate(
        tool=tool,
        target_language=language,
        source_language="python",
        entry=EntryPoint(tool=tool, kind="python-script", target=tool, how="shebang"),
        scope="program",
        code_lines=100,
        options=3,
        score=score,
        reasons=("lines 100",),
    )


FOUND = (candidate("b", 0.6), candidate("b", 0.6, "c"), candidate("a", 0.2))


@pytest.fixture
def run(tmp_path):
    def start(tool=None, review=(), approved=None, model=None):
        codec.dump(tmp_path / "candidates.json", FOUND)
        values = {"name": "t", "task": {"tool": tool}, "review": list(review), "approved": {"pick": approved}}
        values["models"] = {"pick": "a/b" if model else None}
        step = asking(STEP["pick"], values)
        job = Job(
            spec=Tracked("spec field", values, step.spec),
            rules=Rules(Rulebook(None).load, step.rules),
            inputs={name: tmp_path / name for name in step.reads},
            outputs={name: tmp_path / name for name in step.writes},
            scratch=tmp_path,
            project=tmp_path,
            store=tmp_path,
            dist=tmp_path,
            complete=model,
        )
        outcome = pick.run(job)
        path = tmp_path / "candidate.json"
        return outcome, codec.load(path, Candidate) if path.exists() else None

    return start


def test_the_best_score_is_picked_with_its_reasons(run):
    outcome, picked = run()
    assert outcome.word is Word.PICKED
    assert (picked.tool, picked.target_language) == ("b", "python")
    assert picked.reasons == ("lines 100", "picked: best of 3 by score, score 0.60")


def test_the_tool_that_the_spec_names_is_picked(run):
    outcome, picked = run(tool="a")
    assert outcome.word is Word.PICKED
    assert picked.tool == "a"
    assert picked.reasons[-1] == "picked: the spec names it, score 0.20"


def test_a_tool_that_does_not_exist_fits_none_and_what_exists_is_named(run):
    outcome, picked = run(tool="c")
    assert outcome.word is Word.NONE_FIT
    assert outcome.reason == "task.tool: wanted one of a, b, got c"
    assert picked is None


def test_a_review_parks_with_the_exact_command_and_writes_nothing(run):
    outcome, picked = run(review=["gate", "pick"])
    assert outcome.word is Word.PARKED
    assert outcome.reason.endswith("review asks for a person: programsmith build spec=t approve=pick")
    assert outcome.evidence["command"] == "programsmith build spec=t approve=pick"
    assert picked is None


def test_what_a_person_accepted_is_picked_and_nothing_else(run):
    proposed = run(review=["pick"])[0].evidence["proposal"]
    outcome, picked = run(review=["pick"], approved=proposed)
    assert outcome.word is Word.PICKED
    assert picked.tool == "b"


def test_an_approval_of_another_proposal_is_void(run):
    proposed = run(review=["pick"])[0].evidence["proposal"]
    assert run(tool="a", review=["pick"], approved=proposed)[0].word is Word.PARKED


def test_a_review_of_the_gate_alone_parks_nothing_here(run):
    assert run(review=["gate"])[0].word is Word.PICKED


def test_a_tool_that_fits_none_is_said_before_anyone_looks(run):
    assert run(tool="c", review=["pick"])[0].word is Word.NONE_FIT


def test_a_model_chooses_among_the_candidates_and_the_facts_stay_the_codes(run):
    played = Played({"choice": 1, "why": "it is odd"})
    outcome, picked = run(model=played)
    assert (picked.tool, picked.target_language, picked.score) == ("b", "c", 0.6)
    assert outcome.evidence["model"] == {"name": "a/b", "calls": 1, "used": True, "fault": "", "why": "it is odd"}
    assert outcome.reason.endswith("a/b chose it of 3")


def test_a_choice_that_is_no_candidate_leaves_it_to_the_rule(run):
    bad = {"choice": 3, "why": "x"}
    outcome, picked = run(model=Played(bad, bad, bad))
    assert picked.reasons[-1] == "picked: best of 3 by score, score 0.60"
    assert outcome.evidence["model"]["fault"] == "choice: wanted 0 to 2, got 3"


def test_a_model_sees_only_candidates_of_the_tool_that_the_spec_names(run):
    played = Played({"choice": 1, "why": "x"})
    _, picked = run(tool="b", model=played)
    assert (picked.tool, picked.target_language) == ("b", "c")
    assert '"tool": "a"' not in played.data


def test_where_there_is_one_choice_no_model_is_asked(run):
    played = Played()
    assert run(tool="a", model=played)[1].tool == "a"
    assert played.asked == []


def test_a_models_choice_is_parked_for_a_person_like_any_other(run):
    assert run(review=["pick"], model=Played({"choice": 2, "why": "x"}))[0].word is Word.PARKED
