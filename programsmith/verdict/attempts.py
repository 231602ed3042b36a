"""Trials and their grades as rows: what triage and calibration read, and what a person is shown.

In: records of trials and of grades, the trials that were asked for. Out: one row per trial that has a grade; apart
from them, who tried for those that have none, since a failure that no agent caused is no score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from programsmith.records import codec
from programsmith.records.outcome import Record
from programsmith.records.trial import Assignment, Grade, Trial

PASSED = "AC"


def rows(records: Iterable[Record]) -> list[dict[str, Any]]:
    """One row per graded trial, in the order pair, index; ceiling trials last."""
    found = list(records)
    grades = {g.trial: g for g in (codec.decode(Grade, r.evidence) for r in found if r.block == "grade")}
    trials = [codec.decode(Trial, r.evidence) for r in found if r.block == "trial"]
    return [_row(t, grades[t.key]) for t in sorted(trials, key=_place) if t.key in grades]


def missing(asked: Iterable[Assignment], rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Who tried, and the index, of the trials that were asked for and have no row: infra."""
    there = {(row["pair"]["agent"], row["pair"]["model"], row["index"], row["ceiling"]) for row in rows}
    return [
        {"pair": codec.encode(a.pair), "index": a.index, "ceiling": a.ceiling}
        for a in asked
        if (a.agent, a.model, a.index, a.ceiling) not in there
    ]


def _place(trial: Trial) -> tuple[bool, str, str, int]:
    return trial.ceiling, trial.pair.agent, trial.pair.model, trial.index


def _row(trial: Trial, grade: Grade) -> dict[str, Any]:
    return {
        "key": trial.key,
        "pair": codec.encode(trial.pair),
        "index": trial.index,
        "batch": trial.batch,
        "ceiling": trial.ceiling,
        "stop": trial.stop.value,
        "artifact": trial.artifact,
        "reward": grade.reward,
        "word": grade.word,
        "families": {name: list(counts) for name, counts in sorted(grade.families.items())},
        "failing": _failing(grade.held_out),
        "failing_public": _failing(grade.public),
        "near_limit": list(grade.near_limit),
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
