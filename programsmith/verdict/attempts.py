"""Trials and their grades as rows: what triage and calibration read, and what a person is shown.

In: records of trials and of grades, the trials that were asked for. Out: one row per trial that has a grade; apart
from them, who tried for those that have none, since a failure that no agent caused is no score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from programsmith.records import codec
from programsmith.records.outcome import Record
from programsmith.records.trial import Assignment, Grade, Trial

PASSED = "AC"
Place = tuple[bool, str, str, int]


def rows(records: Iterable[Record], asked: Iterable[Assignment]) -> list[dict[str, Any]]:
    """One row per graded trial that was asked for, in the order pair, index; ceiling trials last.

    A grade belongs to every trial that left its artifact.
    """
    found, batches = list(records), {_asked(a): a.batch for a in asked}
    grades = {g.artifact: g for g in (codec.decode(Grade, r.evidence) for r in found if r.block == "grade")}
    trials = {_place(t): t for t in (codec.decode(Trial, r.evidence) for r in found if r.block == "trial")}
    return [
        _row(trial, grades[trial.artifact], batches[place])
        for place, trial in sorted(trials.items(), key=lambda both: both[0])
        if place in batches and trial.artifact in grades
    ]


def missing(asked: Iterable[Assignment], rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Who tried, and the index, of the trials that were asked for and have no row: infra."""
    there = {(row["ceiling"], row["pair"]["agent"], row["pair"]["model"], row["index"]) for row in rows}
    return [
        {"pair": codec.encode(a.pair), "index": a.index, "ceiling": a.ceiling} for a in asked if _asked(a) not in there
    ]


def _place(trial: Trial) -> Place:
    return trial.ceiling, trial.pair.agent, trial.pair.model, trial.index


def _asked(which: Assignment) -> Place:
    return which.ceiling, which.agent, which.model, which.index


def _row(trial: Trial, grade: Grade, batch: int) -> dict[str, Any]:
    return {
        "key": trial.key,
        "pair": codec.encode(trial.pair),
        "index": trial.index,
        "batch": batch,
        "ceiling": trial.ceiling,
        "stop": trial.stop.value,
        "artifact": trial.artifact,
        "reward": grade.reward,
        "word": grade.word,
        "families": {name: list(counts) for name, counts in sorted(grade.families.items())},
        "failing": _failing(grade.held_out),
        "failing_public": _failing(grade.public),
        "near_limit": list(grade.near_limit),
        "hostile": grade.hostile,
        "asked": list(trial.asked),
        "usage": {
            "calls": trial.calls,
            "tokens_in": trial.tokens_in,
            "tokens_out": trial.tokens_out,
            "usd": trial.usd,
            "seconds": trial.seconds,
        },
    }


def _failing(words: dict[str, str]) -> dict[str, str]:
    return {case: word for case, word in sorted(words.items()) if word != PASSED}
