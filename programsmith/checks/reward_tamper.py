"""Who writes rewards gets the reward that the cases give.

One submission writes reward files wherever it can, ships some, and says that it passed: its reward is 0. The table,
shipping the same files, still gets 1. Both ship tests of their own, whole and easy, which must not be those that grade.
Neither changes the bundle, nor what was handed in, nor the one reward file.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programsmith.adversaries.cut import Choice, cut
from programsmith.bundle.controls import Files, table
from programsmith.bundle.grade import Grade
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.stages import graded, probe, some
from programsmith.payload.verifier.model import Case, Expected, FileEntry, GradedCase

SHIPPED = ("reward.json", "reward.txt", "details.json", "logs/verifier/reward.json")
OWN_TESTS = ("policy.json", "plan.json", "public.jsonl", "held_out.sealed", "seal.json")
EASY = GradedCase(case=Case(argv=(b"anything",)), expected=Expected(exit_code=0), family="own", cpu_seconds=0.1)
CLAIM = b'{"reward": 1, "word": "AC"}\n'
WANTED = {"tamper": 0.0, "table": 1.0}
FEW = 3  # cases: each writes wherever it can


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Grade both and look at what the verifier left."""
    shipped = (*(FileEntry(path.encode(), content=CLAIM) for path in SHIPPED), *_own_tests(scene))
    cases = some(scene, FEW)
    submissions: dict[str, Files] = {
        "tamper": (*probe(scene, "tamper", "tamper.sh"), *shipped),
        "table": (*table(scene.manifest.target_language, cases), *shipped),
    }
    found, rewards = [], {}
    for name, got in graded(scene, submissions, cases).items():
        rewards[name] = got.grade.reward
        found += [f"{name}: {fault}" for fault in _faults(got.grade, got.out, WANTED[name])]
        found += [] if set(got.words) == {c.case.id for c in cases} else [f"{name}: other cases were graded than asked"]
        found += [] if got.is_same else [f"{name}: the bundle or the submission was changed"]
    return Row(
        passed=not found,
        reason=first(found, "rewards that a submission writes count for nothing", "tamper"),
        evidence={"rewards": rewards, "shipped": len(shipped), "faults": found},
    )


def _own_tests(scene: Scene) -> Files:
    """A tests folder with one easy case, as a submission brings it along."""
    place = scene.scratch / "own"
    sides = dataclasses.replace(scene.sides, held_out=(EASY,))
    cut(sides, scene.bundle, Choice(ids=(EASY.case.id,), whole=False), place)
    return tuple(
        FileEntry(f"tests/{name}".encode(), content=(place / "tests" / name).read_bytes()) for name in OWN_TESTS
    )


def _faults(grade: Grade, out: Path, wanted: float) -> Iterator[str]:
    if grade.reward != wanted:
        yield f"wanted the reward {wanted}, got {grade.reward} ({grade.word}: {grade.reason})"
    said = json.loads((out / "reward.json").read_bytes())
    if said != {"reward": wanted}:
        yield f"reward.json: wanted the reward {wanted} alone, got {said}"
    extra = sorted(p.name for p in out.iterdir() if p.name not in {"reward.json", "details.json", "build.log"})
    yield from (f"{name}: wanted nothing beside the reward, got this file" for name in extra)
