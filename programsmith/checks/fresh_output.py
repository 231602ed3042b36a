"""Only what the build makes counts: an executable that is handed in is gone before compile.sh starts.

The table is built first, so the executable that is handed in would score 1. Beside it lies a compile.sh that does
nothing: the reward must be 0, and the word NO_BUILD or POLICY. The same tree with its own compile.sh builds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from programsmith.bundle.controls import table
from programsmith.checks.base import Row, Scene
from programsmith.checks.stages import built, graded, launchers
from programsmith.payload.verifier.environment import COMPILE, EXECUTABLE
from programsmith.payload.verifier.words import BuildWord

IDLE = b"#!/bin/sh\nexit 0\n"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Hand in a finished executable with an idle compile.sh."""
    with launchers(scene) as found:
        done = built(scene, found, table(scene.manifest.target_language, scene.sides.all))
    idle = [dataclasses.replace(e, content=IDLE) if e.path == COMPILE.encode() else e for e in done.tree]
    grade = graded(scene, {"stale": idle})["stale"].grade
    passed = grade.reward == 0.0 and grade.word in {BuildWord.NO_BUILD, BuildWord.POLICY}
    return Row(
        passed=passed,
        reason="a stale executable does not count" if passed else f"stale executable: {grade.word}, {grade.reason}",
        evidence={
            "reward": grade.reward,
            "word": grade.word,
            "executable_bytes": next(len(e.content) for e in done.tree if e.path == EXECUTABLE.encode()),
        },
    )
