"""What a person reads of the public cases is what the programs read: every folder follows from its case line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.bundle.cases import folders
from programsmith.bundle.tree import CASES
from programsmith.checks.base import Row, Scene, first


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Write the folders again and compare."""
    made = folders(scene.manifest.tool, scene.sides.public)
    wanted = {CASES + e.path.decode("ascii"): e.content for e in made if e.kind == "file"}
    there = {path: e.content for path, e in scene.files.items() if path.startswith(CASES)}
    found = [f"{path}: wanted, got none" for path in sorted(wanted.keys() - there.keys())]
    found += [f"{path}: no public case has this file" for path in sorted(there.keys() - wanted.keys())]
    same = sorted(wanted.keys() & there.keys())
    found += [f"{path}: wanted what public.jsonl says, got other bytes" for path in same if wanted[path] != there[path]]
    return Row(
        passed=not found,
        reason=first(found, f"{len(scene.sides.public)} folders show their cases", "case folder"),
        evidence={"faults": found, "files": len(wanted)},
    )
