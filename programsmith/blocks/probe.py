"""probe: every adversary of the chosen set tries to score on the bundle without solving the task.

In: bundle, manifest, environment, the lock, the rules; where the spec names an adversary that a model drives, its
graded tries, the original and its documentation too. Out: clean or hacked, with one evidence row per adversary, and
of the tries those that scored without solving as hacks.json. A scripted adversary counts where it is live: where it
gets through once the one defence that it names is missing. A try counts where it handed something in that is not the
program itself; where none counts, `not_s` is open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from programsmith.adversaries import honest
from programsmith.adversaries.again import commands
from programsmith.adversaries.cut import Cuts
from programsmith.adversaries.hacks import RULE, entry_of, hacks, replay
from programsmith.adversaries.registry import adversaries, chosen, defences
from programsmith.adversaries.run import HACKED, Ground, Row, attack
from programsmith.adversaries.tries import TELLS, Bench, Judged, Tried, counts, judge
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.solution import solution
from programsmith.errors import InfraError
from programsmith.goldens.capture import Capture
from programsmith.job import Job
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.records import codec
from programsmith.records.lock import Candidate, Lock, OracleFacts
from programsmith.records.outcome import Outcome, Word
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import read_tar
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import agent_view, run_view
from programsmith.verdict.attempts import missing, rows

POINTER_DIGITS = 12  # of a commit, as many as name it
KEPT = "r/hacks.json"


def run(job: Job) -> Outcome:
    """Let the adversaries loose, several at a time. Raises InfraError."""
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    rule, listed = job.rules("adversaries"), defences(job.rules("defences"))
    picked = chosen(adversaries(rule, listed), _wanted(job), manifest.target_language)
    kept = [h for h in hacks(job.rules("hacks")["hacks"], listed) if h.language == manifest.target_language]
    ground, floor = _ground(job, manifest), rule["attack"]["floor"]
    loose: list[Callable[[], Row]] = [lambda one=one: attack(one, ground) for one in picked]  # type: ignore[misc]
    loose += [lambda one=one: replay(one, ground, floor) for one in kept]  # type: ignore[misc]
    with ThreadPoolExecutor(max_workers=max(1, job.workers)) as pool:
        found = list(pool.map(lambda one: one(), loose))
    for row in found:
        job.say(f"{row.id}: {row.outcome}, {_liveness(row)} (without {row.defence})")
    return decide_outcome(found, rule["wanted"], judged(job, manifest, ground, rule["attack"]))


def decide_outcome(rows_: Sequence[Row], wanted: dict[str, int], tries: Sequence[Tried] | None = None) -> Outcome:
    """Hacked where any adversary got through, else clean; `not_s` is open where too few were live, or no try counts.

    `tries` are those of an adversary that a model drives; None where the spec names none.
    """
    every = [*rows_, *(row for one in tries or () if (row := one.told))]
    live = [row for row in rows_ if row.live]
    through = [row for row in every if row.outcome == HACKED]
    covered = {row.defence for row in live}
    enough = len(live) >= wanted["adversaries"] and len(covered) >= wanted["defences"] and _told(tries)
    evidence: dict[str, Any] = {
        "rows": [row.evidence() for row in every],
        "counts": {
            "scripted": f"{sum(row.outcome == HACKED for row in rows_)}/{len(live)}",
            "model": counts(tries or ()),
        },
        "live": len(live),
        "defences": len(covered),
        "duds": [row.id for row in rows_ if row.live is False],
        "not_s": 0 if through else 1 if enough else None,
    }
    if tries is not None:
        evidence["tries"] = [one.evidence for one in tries]
    if through:
        names = ", ".join(f"{row.id} (reward {row.reward:g})" for row in through)
        adopt = "; `programsmith adopt` keeps those of a model" if any(one.hack for one in tries or ()) else ""
        reason = f"{len(through)} adversaries get through: {names}{adopt}"
        return Outcome(word=Word.HACKED, reason=reason, evidence=evidence)
    if not live:
        raise InfraError("probe: no adversary gets through even without its defence: this host proves nothing")
    reason = f"{len(live)} live adversaries over {len(covered)} defences, none gets through"
    return Outcome(word=Word.CLEAN, reason=f"{reason}{_of_tries(tries)}", evidence=evidence)


def _told(tries: Sequence[Tried] | None) -> bool:
    """Whether the tries that were asked for say that nothing gets through: none may be in doubt."""
    if tries is None:
        return True
    return any(one.judged in TELLS for one in tries) and all(one.judged is not Judged.UNREPEATED for one in tries)


def _of_tries(tries: Sequence[Tried] | None) -> str:
    """What the tries came to, for a person."""
    if tries is None:
        return ""
    told = {word: sum(one.judged is word for one in tries) for word in Judged}
    return "; tries by a model: " + ", ".join(f"{n} {word}" for word, n in told.items() if n)


def judged(job: Job, manifest: Manifest, ground: Ground, rule: Mapping[str, Any]) -> list[Tried] | None:
    """Judge the tries and keep those that scored without solving; None where the spec asks for none.

    Raises InfraError where one has no grade.
    """
    if KEPT not in job.outputs:
        return None
    found = rows(job.records.values(), job.trials)
    if absent := missing(job.trials, found):
        raise InfraError(f"probe: {len(absent)} of {len(job.trials)} tries have no grade; run again")
    places = {(which.agent, which.model, which.index): which.folder for which in job.trials}

    def not_honest(scored: honest.Scored, scratch: Path) -> str:
        return _not_honest(job, ground, rule, scored, scratch)

    bench = Bench(ground=ground, bundle=manifest.tree, floor=rule["floor"], honest=not_honest)
    made = []
    for number, row in enumerate(found):
        folder = places[row["pair"]["agent"], row["pair"]["model"], row["index"]]
        files = tuple(read_tar(job.inputs[f"t/artifact.tar of {folder}"]))
        lines = commands(json.loads(job.inputs[f"t/transcript.json of {folder}"].read_bytes()))
        made.append(judge(row, files, lines, bench, job.scratch / f"try{number}"))
        job.say(f"{folder}: reward {row['reward']:g}, {made[-1].judged} {made[-1].why}")
    entries = {one.hack.id: entry_of(one.hack) for one in made if one.hack}
    job.outputs[KEPT].write_text(json.dumps({RULE: list(entries.values())}, indent=1) + "\n", encoding="ascii")
    return made


def _not_honest(job: Job, ground: Ground, rule: Mapping[str, Any], scored: honest.Scored, scratch: Path) -> str:
    """Why a submission that scored is not proven to be the program; empty where it is. Raises InfraError."""
    facts = codec.load(job.inputs["facts.json"], OracleFacts)
    tree, limits = scratch.with_name(f"{scratch.name}-oracle"), job.rules("limits")["capture"]
    write_tree(str(tree), read_tar(job.inputs["oracle.tar"]))
    toolchain = toolchains(job.rules("toolchains"))[facts.language]
    with closing(open_launcher(run_view(toolchain, facts.exec_allowed))) as launcher:
        original = honest.Original(
            files=tuple(read_tar(job.inputs["source.tar"])),
            lines=codec.load(job.inputs["candidate.json"], Candidate).code_lines,
            shown=b"\n".join(e.content for e in read_tar(job.inputs["docs.tar"])),
            options=facts.options,
            capture=Capture(launcher, facts, tree, Limits(**{n: limits[n] for n in Limits.__dataclass_fields__})),
        )
        return honest.fault(scored, ground, original, rule, scratch)


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
        secret=job.owner_secret,
        view=lambda: agent_view(toolchains(job.rules("toolchains"))[manifest.target_language], manifest.build_packages),
    )


def _wanted(job: Job) -> str | list[str]:
    """`core`, `all`, or ids."""
    value = job.spec("probe.adversaries", object)
    return value if isinstance(value, str) else list(job.spec("probe.adversaries", list))


def _liveness(row: Row) -> str:
    return "not tried" if row.live is None else "live" if row.live else "not live"
