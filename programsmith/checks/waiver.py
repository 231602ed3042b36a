"""The source policy is waived for the sealed wrapper alone, and for nothing where the solution is source or a table.

Such a solution keeps to the policy by itself; a wrapper's tree digest, taken as the verifier takes it, is the waived
one. Any other value would let somebody else's machine code in.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.controls import received_digest
from programsmith.bundle.solution import solution
from programsmith.checks.base import Row, Scene, first
from programsmith.errors import InfraError
from programsmith.payload.verifier.policy import findings

WRAPPER = "wrapper"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Open the solution and hold it to the policy, or to the waiver."""
    found = list(_faults(scene))
    return Row(
        passed=not found,
        reason=first(found, f"a {scene.manifest.solution} solution, waived as it must be", "waiver"),
        evidence={"faults": found, "solution": scene.manifest.solution},
    )


def _faults(scene: Scene) -> Iterator[str]:
    sides, wanted = scene.sides, ""
    try:
        files = solution(scene.bundle, scene.owner_secret)
    except (InfraError, tarfile.TarError) as fault:
        yield f"solution/solution.sealed: wanted a sealed archive of source: {fault}"
        return
    if scene.manifest.solution == WRAPPER:
        wanted = received_digest(files, scene.scratch / "solution", sides.policy.submission)
    else:
        refused = findings(files, sides.policy)
        yield from (f"solution/: {one.path!r}: wanted source, got {one.why}" for one in refused)
    for where, got in (("tests/plan.json", sides.plan.waived), ("the manifest", scene.manifest.waived)):
        if got != wanted:
            yield f"{where}: waived: wanted {wanted or 'nothing'}, got {got or 'nothing'}"
