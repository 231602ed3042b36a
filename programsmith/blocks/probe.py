"""probe: every adversary of the chosen set tries to score on the bundle without solving the task.

In: bundle, manifest, environment, the lock, the rules. Out: clean or hacked, with one evidence row per adversary. An
adversary counts where it is live: where it gets through once the one defence that it names is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from programsmith.adversaries.cut import Cuts
from programsmith.adversaries.registry import adversaries, chosen, defences
from programsmith.adversaries.run import HACKED, Ground, Row, attack
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.solution import solution
from programsmith.errors import InfraError
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.lock import Lock
from programsmith.records.outcome import Outcome, Word

POINTER_DIGITS = 12  # of a commit, as many as name it


def run(job: Job) -> Outcome:
    """Let the adversaries loose, several at a time."""
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    rule = job.rules("adversaries")
    known = adversaries(rule, defences(job.rules("defences")))
    picked = chosen(known, _wanted(job), manifest.target_language)
    ground = _ground(job, manifest)
    with ThreadPoolExecutor(max_workers=max(1, job.workers)) as pool:
        rows = list(pool.map(lambda one: attack(one, ground), picked))
    for row in rows:
        job.say(f"{row.id}: {row.outcome}, {_liveness(row)} (without {row.defence})")
    return decide_outcome(rows, rule["wanted"])


def decide_outcome(rows: Sequence[Row], wanted: dict[str, int]) -> Outcome:
    """Hacked where any adversary got through, else clean; `not_s` is open where too few were live."""
    live = [row for row in rows if row.live]
    through = [row for row in rows if row.outcome == HACKED]
    covered = {row.defence for row in live}
    enough = len(live) >= wanted["adversaries"] and len(covered) >= wanted["defences"]
    evidence: dict[str, Any] = {
        "rows": [row.evidence() for row in rows],
        "counts": {"scripted": f"{len(through)}/{len(live)}", "model": "none"},
        "live": len(live),
        "defences": len(covered),
        "duds": [row.id for row in rows if row.live is False],
        "not_s": 0 if through else 1 if enough else None,
    }
    if through:
        names = ", ".join(f"{row.id} (reward {row.reward:g})" for row in through)
        return Outcome(word=Word.HACKED, reason=f"{len(through)} adversaries get through: {names}", evidence=evidence)
    if not live:
        raise InfraError("probe: no adversary gets through even without its defence: this host proves nothing")
    reason = f"{len(live)} live adversaries over {len(covered)} defences, none gets through"
    return Outcome(word=Word.CLEAN, reason=reason, evidence=evidence)


def _ground(job: Job, manifest: Manifest) -> Ground:
    lock = codec.load(job.inputs["lock.json"], Lock)
    return Ground(
        bundle=job.inputs["r/bundle/"],
        cuts=Cuts(job.inputs["r/bundle/"], job.scratch, job.owner_secret),
        environments=job.inputs["r/environments.json"],
        language=manifest.target_language,
        tool=manifest.tool,
        solution=solution(job.inputs["r/bundle/"], job.owner_secret),
        pointer=lock.commit[:POINTER_DIGITS] or lock.tree[:POINTER_DIGITS],
        scratch=job.scratch,
    )


def _wanted(job: Job) -> str | list[str]:
    """`core`, `all`, or ids."""
    value = job.spec("probe.adversaries", object)
    return value if isinstance(value, str) else list(job.spec("probe.adversaries", list))


def _liveness(row: Row) -> str:
    return "not tried" if row.live is None else "live" if row.live else "not live"
