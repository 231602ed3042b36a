"""The set of cases is closed, and each case asks for something.

Plan, manifest, case lines and sealed lines name the same ids, none on both sides; each case wants one way of ending,
and its comparison refuses another output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.checks.base import Row, Scene, first
from programsmith.payload.verifier.compare import choice, comparator
from programsmith.payload.verifier.model import GradedCase

OTHER = b"\0another output\xff\n"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare the four lists of each side, then look at every case."""
    plan, manifest = scene.sides.plan, scene.manifest
    sides = {
        "public": (manifest.public, plan.public, scene.sides.public),
        "held_out": (manifest.held_out, plan.held_out, scene.sides.held_out),
    }
    found = [fault for name, side in sides.items() for fault in _ids(name, *side)]
    both = sorted(set(plan.public) & set(plan.held_out))
    found += [f"tests/plan.json: wanted {case} on one side, got it on both" for case in both]
    found += [f"{case.case.id}: {fault}" for case in scene.sides.all for fault in _faults(case)]
    counts = {name: len(side[0]) for name, side in sides.items()}
    return Row(
        passed=not found,
        reason=first(found, f"{sum(counts.values())} ids, the same in every list", "case"),
        evidence={"faults": found, **counts},
    )


def _ids(side: str, manifest: tuple[str, ...], plan: tuple[str, ...], cases: tuple[GradedCase, ...]) -> Iterator[str]:
    lists = {"tests/plan.json": set(plan), "the case lines": {c.case.id for c in cases}}
    for where, ids in lists.items():
        odd = sorted(ids ^ set(manifest))
        if odd:
            yield f"{where}: wanted the {len(manifest)} {side} ids of the manifest, got {len(ids)}; {odd[0]} differs"


def _faults(case: GradedCase) -> Iterator[str]:
    wanted = case.expected
    if (wanted.exit_code is None) == (wanted.signal is None):
        yield f"wanted one way of ending, got exit code {wanted.exit_code} and signal {wanted.signal}"
    if comparator(choice(case.compare)["stdout"])(wanted.stdout, OTHER + wanted.stdout + OTHER):
        yield "wanted a comparison that refuses another output, got one that takes it"
