"""Only what the build makes counts: an executable that is handed in is gone before compile.sh starts.

Beside the executable lies a compile.sh that does nothing. The reward must be 0, and the word NO_BUILD: anything else
says that the executable was still there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.checks.base import Row, Scene
from programsmith.checks.stages import graded, some
from programsmith.payload.verifier.environment import COMPILE, EXECUTABLE
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.words import BuildWord

IDLE = b"#!/bin/sh\nexit 0\n"
NAMES = (COMPILE, EXECUTABLE)


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Hand in a finished executable with an idle compile.sh."""
    idle = tuple(FileEntry(name.encode(), "file", 0o755, IDLE) for name in NAMES)
    grade = graded(scene, {"stale": idle}, some(scene, 1))["stale"].grade
    passed = grade.reward == 0.0 and grade.word == BuildWord.NO_BUILD
    said = f"stale executable: tests/verify.pyz: wanted {BuildWord.NO_BUILD}, got {grade.word}: {grade.reason}"
    return Row(
        passed=passed,
        reason="a stale executable does not count" if passed else said,
        evidence={"reward": grade.reward, "word": grade.word},
    )
