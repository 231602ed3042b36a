from __future__ import annotations

from pathlib import Path

from programsmith.blocks import rollouts
from programsmith.job import Job, Rules, Tracked
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Record, Word
from programsmith.records.trial import Assignment, Grade, Stop, Trial


def run(
    tmp_path: Path, trials: list[tuple[Assignment, str]], rewards: dict[str, float], *, hostile: bool = False
) -> Outcome:
    """The block over trials that left artifacts, graded as `rewards` says."""
    records = {f"trial {n}": _trial(which, artifact) for n, (which, artifact) in enumerate(trials)}
    records |= {f"grade {artifact}": _grade(artifact, reward, hostile) for artifact, reward in rewards.items()}
    job = Job(
        spec=Tracked("spec field", {}, ()),
        rules=Rules(lambda name: name, ()),
        inputs={},
        outputs={},
        scratch=tmp_path,
        project=tmp_path,
        store=tmp_path,
        dist=tmp_path,
        trials=tuple(which for which, _ in trials),
        records=records,
    )
    return rollouts.run(job)


def _trial(which: Assignment, artifact: str) -> Record:
    value = Trial(
        key=f"{which.folder}", pair=which.pair, index=which.index, ceiling=which.ceiling, stop=Stop.WALL,
        artifact=artifact, calls=2, tokens_in=10, tokens_out=5, usd=0.25, seconds=2.0,
    )  # fmt: skip
    return Record(block="trial", outcome=Word.DONE, reason="", evidence=codec.encode(value), inputs={}, seconds=0)


def _grade(artifact: str, reward: float, hostile: bool) -> Record:
    value = Grade(key="g", artifact=artifact, reward=reward, word="AC", held_out={}, public={}, hostile=hostile)
    return Record(block="grade", outcome=Word.DONE, reason="", evidence=codec.encode(value), inputs={}, seconds=0)


def test_a_submission_that_ended_its_verifier_shows(tmp_path: Path) -> None:
    outcome = run(tmp_path, [(which(0), "a")], {"a": 0.0}, hostile=True)
    assert outcome.reason.endswith("1 different submissions; 1 ended the verifier: hostile, 0")
    assert [row["hostile"] for row in outcome.evidence["trials"]] == [True]


def which(index: int, batch: int = 0, *, ceiling: bool = False) -> Assignment:
    return Assignment(agent="scripted", model="solver", index=index, batch=batch, ceiling=ceiling)


def test_trials_of_all_batches_come_together(tmp_path: Path) -> None:
    trials = [(which(0), "a"), (which(1), "b"), (which(2, 1), "b"), (which(0, ceiling=True), "c")]
    outcome = run(tmp_path, trials, {"a": 1.0, "b": 0.0, "c": 1.0})
    assert outcome.word is Word.DONE
    assert outcome.reason == "1 of 3 trials score 1, 1 of 1 with the source; 2 different submissions"
    assert [(r["index"], r["batch"], r["reward"], r["stop"]) for r in outcome.evidence["trials"]] == [
        (0, 0, 1.0, "wall"),
        (1, 0, 0.0, "wall"),
        (2, 1, 0.0, "wall"),
        (0, 0, 1.0, "wall"),
    ]
    assert (outcome.evidence["infra"], outcome.evidence["batch"]) == ([], 1)
    assert outcome.evidence["usage"] == {"calls": 8, "tokens_in": 40, "tokens_out": 20, "usd": 1.0, "seconds": 8.0}


def test_what_has_no_grade_counts_nowhere(tmp_path: Path) -> None:
    outcome = run(tmp_path, [(which(0), "a"), (which(1), "lost")], {"a": 0.0})
    assert outcome.reason.startswith("0 of 1 trials score 1")
    pair = {"agent": "scripted", "model": "solver"}
    assert outcome.evidence["infra"] == [{"pair": pair, "index": 1, "ceiling": False}]
