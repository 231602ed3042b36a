"""The instruction states the contract: where work goes, what is given, how it is judged, every limit and count.

Each number is taken from policy and plan, as the grader reads them, and must stand there as a word of its own; each
place below /app that the text names must be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.instruction import Subject, stated
from programsmith.bundle.tree import APP
from programsmith.checks.base import Row, Scene, first
from programsmith.payload.verifier.environment import COMPILE, EXECUTABLE, SUBMISSION

PLACE = re.compile(rb"`/app/([A-Za-z0-9._/-]+)")
HANDED_IN = "submission"
EXAMPLE = "/ID/"  # stands for any case


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Look for every fact beside the policy's own words, then for every place."""
    text = scene.content("instruction.md").replace(scene.content("tests/policy.json"), b"")
    facts = dict(_facts(scene))
    lacking = {name: said for name, said in facts.items() if not _is_said(said, text)}
    found = [f"instruction.md: wanted {name} to say {said!r}, got nothing like it" for name, said in lacking.items()]
    named = sorted({place.decode("ascii") for place in PLACE.findall(text)})
    found += [
        f"instruction.md: names /app/{place}, which is not there" for place in named if not _is_there(scene, place)
    ]
    return Row(
        passed=not found,
        reason=first(found, f"{len(facts)} facts and {len(named)} places are as stated", "instruction"),
        evidence={"faults": found, "facts": len(facts), "places": named},
    )


def _facts(scene: Scene) -> Iterator[tuple[str, str]]:
    sides, manifest = scene.sides, scene.manifest
    subject = Subject(
        description="",
        policy=sides.policy,
        plan=sides.plan,
        compare=sides.plan.notes["compare"],
        exec_allowed=manifest.exec_allowed,
        build_packages=manifest.build_packages,
        queries=sides.plan.notes.get("queries"),
    )
    yield "the contract", f"{SUBMISSION}/{COMPILE}"
    yield "the output", f"{SUBMISSION}/{EXECUTABLE}"
    yield from ((name, said) for name, said in stated(subject).items() if said)


def _is_said(said: str, text: bytes) -> bool:
    """Whether the words stand there and are not a part of longer ones."""
    return re.search(rb"(?<![\w.])" + re.escape(said.encode()) + rb"(?![\w]|\.\d)", text) is not None


def _is_there(scene: Scene, place: str) -> bool:
    if place.partition("/")[0] == HANDED_IN:
        return True
    start = APP + (place.partition(EXAMPLE)[0] if EXAMPLE in place else place).rstrip("/")
    return any(path == start or path.startswith(start + "/") for path in scene.files)
