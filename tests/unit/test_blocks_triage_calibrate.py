"""triage and calibrate as blocks: from the record of rollouts to a word, through real files and the real rules."""

import pytest

from programsmith.blocks import calibrate, triage
from programsmith.bundle.manifest import Manifest
from programsmith.compiler.plan import STEP, asking
from programsmith.job import Job, Rules, Tracked
from programsmith.records import codec
from programsmith.records.labels import Labels
from programsmith.records.outcome import Record, Word
from programsmith.rulebook.load import Rulebook
from tests.samples.stock import SPLIT, STOCK, asks


def row(index, failing=(), public=(), *, ceiling=False, agent="command", asked=()):
    return {
        "key": str(index),
        "pair": {"agent": agent, "model": "m"},
        "index": index,
        "batch": 0,
        "ceiling": ceiling,
        "stop": "done",
        "artifact": f"{agent}{index}{ceiling}",
        "reward": float(not failing),
        "word": "WA_STDOUT" if failing else "AC",
        "families": {},
        "failing": dict.fromkeys(failing, "WA_STDOUT"),
        "failing_public": dict.fromkeys(public, "WA_STDOUT"),
        "near_limit": [],
        "hostile": False,
        "asked": list(asked),
        "usage": {},
    }


def shown(folder, transcripts):
    """Each trial's transcript as the engine hands it."""
    for index, steps in transcripts.items():
        codec.dump(folder / f"{index}.json", {"steps": steps})
    return {f"t/transcript.json of command-m/{index}": folder / f"{index}.json" for index in transcripts}


@pytest.fixture
def job(tmp_path):
    """A job of either block over a small revision; `records` as the engine hands them."""

    def make(block, records, *, difficulty=(), sweep=None, discovery=None, model=None, transcripts=None):
        values = {"difficulty": list(difficulty), "sweep": sweep, "models": {"judge": "a/b" if model else None}}
        step = asking(STEP[block], values)
        assert set(records) <= set(step.records)
        manifest = Manifest(
            tree="", files={}, public=SPLIT.public, held_out=SPLIT.held_out, families={}, tool="t",
            target_language="c", exec_allowed=(), solution="source", waived="",
        )  # fmt: skip
        (tmp_path / "r").mkdir(exist_ok=True)
        codec.dump(tmp_path / "r" / "manifest.json", manifest)
        codec.dump(tmp_path / "kills.json", STOCK.kills)
        codec.dump(tmp_path / "discovery.json", {**STOCK.discovery, **(discovery or {})})
        codec.dump_lines(tmp_path / "pool.jsonl", STOCK.pool.values())
        said = []
        made = Job(
            spec=Tracked("spec field", values, step.spec),
            rules=Rules(Rulebook(None).load, step.rules),
            inputs={**{name: tmp_path / name for name in step.reads}, **shown(tmp_path, transcripts or {})},
            complete=model,
            outputs={},
            scratch=tmp_path,
            project=tmp_path,
            store=tmp_path,
            dist=tmp_path,
            records=records,
            say=said.append,
        )
        return made, said

    return make


def record(block, evidence, word=Word.DONE):
    return Record(block=block, outcome=word, reason="", evidence=evidence, inputs={}, seconds=0.0)


@pytest.fixture
def judged(job):
    """Both blocks, one after the other, over rows of trials."""

    def run(rows, infra=(), **rest):
        records = {"rollouts": record("rollouts", {"trials": rows, "infra": list(infra)})}
        first = triage.run(job("triage", records, **rest)[0])
        made, said = job("calibrate", {"triage": record("triage", codec.encode(first.evidence))}, **rest)
        second = calibrate.run(made)
        assert second.word in STEP["calibrate"].says
        assert (made.spec.used, made.rules.used) == (set(STEP["calibrate"].spec), set(STEP["calibrate"].rules))
        return first, second, said

    return run


BAND = {"basis": "rollouts", "pass_rate": {"min": 0.0, "max": 0.4}, "confidence": 0.8, "trials_max": 12}


def test_labels_come_back_from_the_evidence_as_they_were_given(judged):
    first, _, _ = judged([row(0), row(1, ["one2"], ["one0"]), row(0, ceiling=True)])
    labels = codec.decode(Labels, codec.encode(first.evidence["labels"]))
    assert [(t.label.value, t.proof, t.cases) for t in labels.trials] == [
        ("good_success", "no_signal", ()),
        ("good_failure", "public_fails_too", ("one2",)),
        ("good_success", "no_signal", ()),
    ]
    assert first.word is Word.DONE
    assert first.reason == "1 good_failure, 2 good_success"
    assert first.evidence["counts"] == {"good_failure": 1, "good_success": 2}


@pytest.mark.parametrize("asks", [False, True])
def test_whoever_asked_the_original_shows_that_a_family_could_be_known(judged, asks):
    other = row(1, ["one2"], asked=[STOCK.pool["one2"].family] if asks else [])
    first, _, _ = judged([row(0, ["one2"]), other])
    found = codec.decode(Labels, codec.encode(first.evidence["labels"])).trials
    assert {(t.label.value, t.proof) for t in found} == {
        ("good_failure", "reached_by_a_query") if asks else ("unlabelled", "no_proof")
    }


def test_a_planted_case_that_nothing_shows_is_a_defect_that_names_it(judged):
    planted = {"one2": asks(b"a word of its own")}
    first, _, _ = judged([row(i, ["one2"]) for i in range(6)], discovery=planted)
    assert first.word is Word.DEFECT
    assert first.reason == "6 of 6 trials: command/m:0 is bad_failure by unshown, the first case is one2"


def test_a_planted_case_that_only_other_failures_hide_is_still_too_hard(judged):
    planted = {"one2": asks(b"a word of its own")}
    rows = [row(i, ["one2", "two2"], ["two0"]) for i in range(6)]
    first, second, _ = judged([*rows, row(0, ceiling=True)], discovery=planted, difficulty=[BAND])
    assert first.word is Word.DONE
    assert second.word is Word.TOO_HARD
    assert second.evidence["solvable"] == {"by": None, "open": ["one2"]}
    assert second.evidence["headroom"]["difference"] == 1.0


def test_infra_is_named_apart(judged):
    lost = {"pair": {"agent": "command", "model": "m"}, "index": 1, "ceiling": False}
    first, second, _ = judged([row(0)], infra=[lost])
    assert first.evidence["labels"]["infra"] == {"command/m:1": "no grade"}
    assert second.evidence["tallies"][0]["n"] == 1


def test_a_spec_without_rollouts_is_in_band(judged):
    first, second, _ = judged([])
    assert (first.word, first.reason, second.word) == (Word.DONE, "no trials", Word.IN_BAND)


def test_a_saturated_task_is_to_be_hardened(judged):
    assert judged([row(i) for i in range(6)], difficulty=[BAND])[1].word is Word.HARDEN


def test_an_edited_band_reads_the_same_trials_again(judged):
    rows = [row(i, *(() if i < 3 else (["one2"], ["one0"]))) for i in range(6)]
    wide = {**BAND, "pass_rate": {"min": 0.1, "max": 0.9}}
    assert judged(rows, difficulty=[wide])[1].word is Word.IN_BAND
    assert judged(rows, difficulty=[{**wide, "pass_rate": {"min": 0.9, "max": 1.0}}])[1].word is Word.EASE
    assert judged(rows, difficulty=[{**wide, "confidence": 0.7}])[1].word is Word.IN_BAND


def test_a_sweep_without_a_band_is_warned_and_decides_whether_anybody_passes(judged):
    sweep = {"agents": ["codex"], "models": ["p/m"], "trials": 6, "except": []}
    rows = [row(i, ["one2"], ["one0"]) for i in range(6)]
    _, second, said = judged(rows, difficulty=[BAND], sweep=sweep)
    assert second.word is Word.IN_BAND
    assert said == second.evidence["warnings"]
    assert said[0].startswith("unbanded_sweep: the sweep over codex/p/m cannot fail")
    assert judged(rows, difficulty=[BAND])[1].word is Word.TOO_HARD
