from __future__ import annotations

from collections.abc import Iterable

from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.records.trial import Assignment, Grade, Pair, Stop, Trial
from programsmith.verdict.attempts import missing, rows

PAIR = Pair(agent="scripted", model="solver")


def trial(index: int, artifact: str, *, ceiling: bool = False) -> Record:
    value = Trial(
        key=f"k{index}{ceiling}",
        pair=PAIR,
        index=index,
        ceiling=ceiling,
        stop=Stop.DONE,
        artifact=artifact,
        calls=1,
        tokens_in=2,
        tokens_out=3,
        usd=0.5,
        seconds=1.5,
    )
    return _record("trial", value)


def grade(artifact: str, reward: float = 1.0) -> Record:
    words = {"c1": "AC", "c2": "AC" if reward else "WA_STDOUT"}
    value = Grade(
        key=f"g{artifact}",
        artifact=artifact,
        reward=reward,
        word="AC" if reward else "WA_STDOUT",
        held_out=words,
        public={"c3": "AC"},
        families={"sum": (int(reward) + 1, 2)},
    )
    return _record("grade", value)


def _record(block: str, value: object) -> Record:
    return Record(block=block, outcome=Word.DONE, reason="", evidence=codec.encode(value), inputs={}, seconds=1.0)


def asked(indices: Iterable[int], *, batch: int = 0, ceiling: bool = False) -> list[Assignment]:
    return [Assignment(agent=PAIR.agent, model=PAIR.model, index=i, batch=batch, ceiling=ceiling) for i in indices]


def test_a_row_joins_a_trial_with_the_grade_of_its_artifact() -> None:
    (row,) = rows([grade("a", 0.0), trial(0, "a")], asked([0]))
    assert (row["reward"], row["word"], row["failing"], row["failing_public"]) == (
        0.0,
        "WA_STDOUT",
        {"c2": "WA_STDOUT"},
        {},
    )
    assert row["pair"] == {"agent": "scripted", "model": "solver"}
    assert row["families"] == {"sum": [1, 2]}
    assert row["usage"] == {"calls": 1, "tokens_in": 2, "tokens_out": 3, "usd": 0.5, "seconds": 1.5}


def test_one_grade_serves_all_trials_that_left_the_same() -> None:
    found = rows([trial(0, "a"), trial(1, "a"), grade("a")], asked([0, 1]))
    assert [(row["index"], row["reward"]) for row in found] == [(0, 1.0), (1, 1.0)]


def test_the_batch_is_that_of_the_question_not_of_the_answer() -> None:
    found = rows([trial(0, "a"), trial(1, "a"), grade("a")], [*asked([0]), *asked([1], batch=1)])
    assert [row["batch"] for row in found] == [0, 1]


def test_rows_come_by_pair_and_index_and_ceiling_trials_last() -> None:
    records = [trial(0, "b", ceiling=True), trial(10, "a"), trial(9, "a"), grade("a"), grade("b")]
    found = rows(records, [*asked([9, 10]), *asked([0], ceiling=True)])
    assert [(row["ceiling"], row["index"]) for row in found] == [(False, 9), (False, 10), (True, 0)]


def test_what_nobody_asked_for_is_no_row() -> None:
    assert rows([trial(7, "a"), grade("a")], asked([0])) == []
    assert rows([trial(0, "a", ceiling=True), grade("a")], asked([0])) == []


def test_a_trial_without_a_grade_is_infra_and_no_zero() -> None:
    wanted = asked([0, 1])
    found = rows([trial(0, "a"), trial(1, "b"), grade("a")], wanted)
    assert [row["index"] for row in found] == [0]
    assert missing(wanted, found) == [{"pair": {"agent": "scripted", "model": "solver"}, "index": 1, "ceiling": False}]
