"""The gate writes a verdict however far the revision came."""

import json

import pytest

from programsmith.blocks import gate
from programsmith.compiler.plan import STEP
from programsmith.job import Job, Rules, Tracked
from programsmith.records import codec
from programsmith.records.lock import Candidate, EntryPoint
from programsmith.records.outcome import Record, Word
from programsmith.records.revision import Lineage, Operation
from programsmith.rulebook.load import Rulebook

ALL_PASS = ("ingest", "matrix", "oracle", "goldens", "create", "images", "strength", "sanity", "static")
ENTRY = EntryPoint(tool="t", kind="python-script", target="t", how="shebang")
CANDIDATE = Candidate(
    tool="t",
    target_language="python",
    source_language="python",
    entry=ENTRY,
    scope="program",
    code_lines=400,
    options=3,
    score=0.1,
    reasons=(),
)


def record(block, word, **evidence):
    return Record(block=block, outcome=word, reason=f"because of {block}", evidence=evidence, inputs={}, seconds=0.0)


@pytest.fixture
def run(tmp_path):
    def start(records, *, candidate=True, min_lines=1500, review=(), approved=None, proven=None):
        if candidate:
            codec.dump(tmp_path / "candidate.json", CANDIDATE)
        step = STEP["gate"]
        values = {
            "name": "t",
            "horizon": {"min_lines": min_lines},
            "rollouts": [],
            "sweep": None,
            "review": list(review),
        }
        values |= {"approved": {"gate": approved}, "proven": proven or {}}
        job = Job(
            spec=Tracked("spec field", values, step.spec),
            rules=Rules(Rulebook(None).load, step.rules),
            inputs={name: tmp_path / name for name in step.reads if (tmp_path / name).exists()},
            outputs={"verdict.json": tmp_path / "verdict.json"},
            scratch=tmp_path,
            project=tmp_path,
            store=tmp_path,
            dist=tmp_path,
            records={r.block: r for r in records},
        )
        outcome = gate.run(job)
        assert outcome.word in step.says
        assert job.spec.used == set(step.spec)
        assert job.rules.used == set(step.rules)
        return outcome, json.loads((tmp_path / "verdict.json").read_bytes())

    return start


def passed():
    images = record("images", Word.PASS, kind="bubblewrap", fingerprint="ab")
    return [*(record(b, Word.PASS) for b in ALL_PASS if b != "images"), record("pick", Word.PICKED), images]


def test_a_draft_holds_exactly_the_fields_of_a_verdict(run):
    outcome, verdict = run(passed(), min_lines=300)
    assert outcome.word is Word.DRAFT
    assert verdict == {
        "outcome": "draft",
        "q": None,
        "b": 1,
        "v": 1,
        "h": None,
        "not_s": None,
        "revision": 0,
        "environments": [{"kind": "bubblewrap", "fingerprint": "ab"}],
        "reasons": [
            "no_rollouts: the spec asks for no rollouts; unproven: h, not_s",
            "horizon_lowered: the spec lowers horizon.min_lines from 1500 to 300",
        ],
    }


def test_the_revision_is_that_of_the_lineage(run, tmp_path):
    (tmp_path / "r").mkdir()
    made = Operation(made=2, name="add_cases", need="harden", cause="", moves=(), before={}, after={})
    codec.dump(tmp_path / "r" / "ops.json", Lineage(operations=(made,)))
    assert run(passed())[1]["revision"] == 2


def test_the_horizon_is_that_of_the_candidate(run):
    outcome, _ = run(passed())
    assert outcome.reason == "short_horizon: 400 code lines in scope, horizon.min_lines wants 1500"


def test_a_rejected_source_has_a_verdict_too(run):
    outcome, verdict = run([record("ingest", Word.REJECT)], candidate=False)
    assert outcome.word is Word.DROP
    assert (verdict["outcome"], verdict["q"], verdict["environments"]) == ("reject", None, [])


def test_a_failed_check_drops_the_spec(run):
    records = [r for r in passed() if r.block != "static"] + [record("static", Word.FAIL)]
    outcome, verdict = run(records)
    assert outcome.word is Word.DROP
    assert (verdict["outcome"], verdict["q"], verdict["v"], verdict["b"]) == ("drop", 0, 0, 1)


def test_a_parked_pick_parks_the_spec(run):
    outcome, verdict = run([record("ingest", Word.PASS), record("pick", Word.PARKED)], candidate=False)
    assert outcome.word is Word.PARKED
    assert verdict["outcome"] == "parked"


def test_a_gate_goes_on_with_what_a_person_accepted(run):
    proposed = run(passed(), review=["gate"])[0].evidence["proposal"]
    assert run(passed(), review=["gate"], approved=proposed)[0].word is Word.DRAFT
    other = [*passed()[:-1], record("images", Word.PASS, kind="bubblewrap", fingerprint="cd")]
    assert run(other, review=["gate"], approved=proposed)[0].word is Word.PARKED


def test_a_review_parks_at_the_gate(run):
    outcome, verdict = run(passed(), review=["gate"])
    assert outcome.word is Word.PARKED
    assert "programsmith build spec=t approve=gate" in verdict["reasons"][0]
