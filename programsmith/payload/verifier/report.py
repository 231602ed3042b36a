"""What a grading run leaves: reward.json with the one number, details.json with what led to it, build.log.

details.json holds words per case id, counts per family, marks and limits: never an input, never an expected byte.
A run that is infra leaves no reward.json, and whatever stood at that path before is gone.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from programsmith.payload.verifier.cases import Ran
from programsmith.payload.verifier.faults import Fault
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.plan import Plan
from programsmith.payload.verifier.words import BuildWord, CaseWord, count_families, named

REWARD, DETAILS, LOG = "reward.json", "details.json", "build.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A finished grading run. `reward` is None exactly when it is infra; `fault_class` then says of which kind.

    `fraction` is the mean over families of the share of held-out cases that pass, whatever the reward is made of, and
    None where the reward is.
    """

    word: str
    reason: str
    reward: float | None
    fraction: float | None = None
    fault_class: str = ""
    sides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    families: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    near_limit: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    enforced: tuple[str, ...] = ()
    left_out: tuple[tuple[bytes, str], ...] = ()
    refused: tuple[tuple[bytes, str], ...] = ()
    log: bytes = b""


def infra(fault_class: Fault, reason: str) -> Report:
    """A run that says nothing about the submission."""
    return Report(word=CaseWord.INFRA, reason=reason, reward=None, fault_class=fault_class)


def unbuilt(word: BuildWord, reason: str, cases: Iterable[GradedCase], plan: Plan, **more: Any) -> Report:
    """A submission of which no case could run: every case of both sides is NOT_RUN."""
    report = judged(cases, {}, plan, **more)
    return dataclasses.replace(report, word=word.value, reason=reason, reward=0.0)


def judged(cases: Iterable[GradedCase], ran: Mapping[str, Ran], plan: Plan, **more: Any) -> Report:
    """The report on cases that ran. A case without a record is NOT_RUN; one that stays INFRA makes the run infra."""
    broken = sorted(name for name, record in ran.items() if record.word is CaseWord.INFRA)
    if broken:
        first = ran[broken[0]].reason or "no status"
        return infra(Fault.LAUNCHER_FAULT, f"{len(broken)} cases could not be run, the first is {broken[0]}: {first}")
    words = {
        side: {name: (ran[name].word if name in ran else CaseWord.NOT_RUN).value for name in ids}
        for side, ids in _sides(plan).items()
    }
    known = tuple(cases)
    families = {side: count_families(known, of) for side, of in words.items()}
    failing = sorted(name for name, word in words["held_out"].items() if word != CaseWord.AC)
    count = len(words["held_out"])
    return Report(
        word=words["held_out"][failing[0]] if failing else CaseWord.AC.value,
        reason=f"{count - len(failing)} of {count} held-out cases pass",
        reward=reward_of(words["held_out"], families["held_out"], plan),
        fraction=fraction_of(families["held_out"]),
        sides=words,
        families=families,
        near_limit=tuple(sorted(name for name, record in ran.items() if record.near_limit)),
        again=tuple(sorted(name for name, record in ran.items() if record.again)),
        **more,
    )


def _sides(plan: Plan) -> dict[str, tuple[str, ...]]:
    return {"held_out": plan.held_out, "public": plan.public}


def reward_of(words: Mapping[str, str], families: Mapping[str, tuple[int, int]], plan: Plan) -> float:
    """The reward in 0..1: all or nothing, the mean over families of what passed, or whether that mean is enough."""
    if plan.reward == "binary":
        return float(all(word == CaseWord.AC for word in words.values()))
    share = fraction_of(families)
    return share if plan.reward == "fraction" else float(share >= plan.threshold)


def fraction_of(families: Mapping[str, tuple[int, int]]) -> float:
    """The mean over families of what passed of each."""
    return sum(passed / total for passed, total in families.values()) / len(families)


def write(out: str, report: Report) -> None:
    """Write the report below `out`; reward.json last and whole, or not at all. Raises OSError."""
    os.makedirs(out, exist_ok=True)
    for name in (REWARD, DETAILS, LOG):
        if os.path.lexists(os.path.join(out, name)):
            os.unlink(os.path.join(out, name))
    _write(out, LOG, report.log)
    _write(out, DETAILS, _json(details(report)))
    if report.reward is not None:
        _write(out, REWARD, _json({"reward": report.reward}))


def details(report: Report) -> dict[str, Any]:
    """The content of details.json."""
    return {
        "word": str(report.word),
        "class": str(report.fault_class),
        "reason": report.reason,
        "reward": report.reward,
        "fraction": report.fraction,
        "cases": {side: dict(words) for side, words in report.sides.items()},
        "families": {
            side: {name: {"passed": passed, "total": total} for name, (passed, total) in counts.items()}
            for side, counts in report.families.items()
        },
        "near_limit": list(report.near_limit),
        "again": list(report.again),
        "enforced": list(report.enforced),
        "left_out": [[named(path), why] for path, why in report.left_out],
        "refused": [[named(path), why] for path, why in report.refused],
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def _write(out: str, name: str, content: bytes) -> None:
    part = os.path.join(out, f".{name}.part")
    made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
    with os.fdopen(made, "wb") as target:
        target.write(content)
    os.replace(part, os.path.join(out, name))
