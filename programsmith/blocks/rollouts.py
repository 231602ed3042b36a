"""rollouts: the trials of a revision up to this batch, in one record.

In: the records of trials and grades, which trials the spec asks for. Out: done, with a row per trial; trials that
infra kept from a grade are listed apart and count nowhere.
"""

from __future__ import annotations

from typing import Any

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word
from programsmith.verdict.attempts import missing, rows
from programsmith.verdict.batches import Sizes, assignments


def run(job: Job) -> Outcome:
    """Bring the batch's trials together."""
    found = rows(job.records.values())
    latest = max((row["batch"] for row in found), default=0)
    asked = [a for batch in range(latest + 1) for a in _asked(job, batch)]
    infra = missing(asked, found)
    own = [row for row in found if not row["ceiling"]]
    ceiling = [row for row in found if row["ceiling"]]
    solved, knowing = (sum(row["reward"] == 1 for row in side) for side in (own, ceiling))
    return Outcome(
        word=Word.DONE,
        reason=f"{solved} of {len(own)} trials score 1, {knowing} of {len(ceiling)} with the source; "
        f"{len({row['artifact'] for row in own})} different submissions",
        evidence={"trials": found, "infra": infra, "batch": latest, "usage": usage(found)},
    )


def _asked(job: Job, batch: int) -> Any:
    return assignments(
        job.spec("rollouts", list),
        job.spec("ceiling", object),  # type: ignore[arg-type]  # a mapping or null
        batch,
        difficulty=job.spec("difficulty", list),
        sizes=Sizes(**job.rules("batches")),
    )


def usage(found: list[dict[str, Any]]) -> dict[str, float]:
    """Sums over trials: model calls, tokens, dollars, seconds."""
    names = ("calls", "tokens_in", "tokens_out", "usd", "seconds")
    return {name: round(sum(row["usage"][name] for row in found), 6) for name in names}
