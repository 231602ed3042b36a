"""rollouts: the trials of a revision up to this batch, in one record.

In: the records of trials and grades, which trials were asked for. Out: done, with a row per trial; trials that
infra kept from a grade are listed apart and count nowhere.
"""

from __future__ import annotations

from typing import Any

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word
from programsmith.verdict.attempts import missing, rows


def run(job: Job) -> Outcome:
    """Bring the trials up to the latest batch together."""
    found = rows(job.records.values(), job.trials)
    own = [row for row in found if not row["ceiling"]]
    ceiling = [row for row in found if row["ceiling"]]
    hostile = sum(row["hostile"] for row in found)
    solved, knowing = (sum(row["reward"] == 1 for row in side) for side in (own, ceiling))
    return Outcome(
        word=Word.DONE,
        reason=f"{solved} of {len(own)} trials score 1, {knowing} of {len(ceiling)} with the source; "
        f"{len({row['artifact'] for row in own})} different submissions"
        + (f"; {hostile} ended the verifier: hostile, 0" if hostile else ""),
        evidence={
            "trials": found,
            "infra": missing(job.trials, found),
            "batch": max((a.batch for a in job.trials), default=0),
            "usage": usage(found),
        },
    )


def usage(found: list[dict[str, Any]]) -> dict[str, float]:
    """Sums over trials: model calls, tokens, dollars, seconds."""
    names = ("calls", "tokens_in", "tokens_out", "usd", "seconds")
    return {name: round(sum(row["usage"][name] for row in found), 6) for name in names}
