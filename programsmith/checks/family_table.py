"""The families that the instruction lists are those that are graded, with the right number of cases on each side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.bundle.instruction import family_table
from programsmith.bundle.manifest import families
from programsmith.checks.base import Row, Scene, first


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Count the cases again; compare plan, manifest and every row of the table."""
    counted = families({"public": scene.sides.public, "held_out": scene.sides.held_out})
    lists = {"tests/plan.json": scene.sides.plan.families, "the manifest": scene.manifest.families}
    found = [
        f"{where}: wanted {counted.get(name)} cases in the family {name!r}, got {said.get(name)}"
        for where, said in lists.items()
        for name in sorted(counted.keys() | said.keys())
        if counted.get(name) != said.get(name)
    ]
    text = scene.content("instruction.md").decode("utf-8", "replace").split("\n")
    rows = family_table(counted).split("\n")
    found += [f"instruction.md: wanted the line {row}, got none" for row in rows if row not in text]
    start = text.index(rows[0]) if rows[0] in text else len(text)
    shown = [line for line in text[start : start + len(rows) + 1] if line.startswith("|")]
    found += [f"instruction.md: no family is behind the line {line}" for line in shown if line not in rows]
    return Row(
        passed=not found,
        reason=first(found, f"{len(counted)} families as counted", "family table"),
        evidence={"faults": found, "families": len(counted)},
    )
