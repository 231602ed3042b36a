"""A build is alone: it reads nothing of the verifier, leaves nothing outside its tree, sees nobody.

The bundle's own verifier builds a submission whose compile.sh tries and says what it could do; its log tells. It fails
in the end, so that no case runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.bundle.render import read_payload
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.stages import graded, some
from programsmith.errors import InfraError
from programsmith.payload.verifier.environment import COMPILE
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.words import BuildWord

POSSIBLE, END = b"possible: ", b"tried all"
NAME = "build"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Build it once and read the log."""
    script = FileEntry(COMPILE.encode(), "file", 0o755, read_payload("probes", "reach.sh"))
    got = graded(scene, {NAME: (script,)}, some(scene, 1))[NAME]
    lines = got.log.splitlines()
    if END not in lines:
        raise InfraError(f"build_isolation: the probe did not come to its end: {got.grade.word}, {got.grade.reason}")
    possible = sorted(
        {line.removeprefix(POSSIBLE).decode("ascii", "replace") for line in lines if line.startswith(POSSIBLE)}
    )
    found = [f"tests/verify.pyz: wanted no build that {what}, got one" for what in possible]
    if got.grade.word != BuildWord.BUILD_FAIL:
        found.append(f"tests/verify.pyz: wanted BUILD_FAIL for a build that fails, got {got.grade.word}")
    found += [] if got.is_same else ["tests/: wanted the bundle and the submission unchanged by a build"]
    return Row(
        passed=not found,
        reason=first(found, "every way out of a build is shut", "build"),
        evidence={"faults": found, "possible": possible},
    )
