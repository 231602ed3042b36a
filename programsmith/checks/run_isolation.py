"""A case is alone: it reads nothing of the verifier, leaves nothing, sees nobody, gains nothing, starts what is listed.

The bundle's own verifier grades a program that answers exactly where it could do what it must not be able to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.checks.attempts import attempts, judged
from programsmith.checks.base import Row, Scene
from programsmith.payload.verifier.scripts import makes_code

TRIES = {
    "reads": "reads the verifier's or the host's files",
    "writes": "leaves a file outside its work directory",
    "others": "sees processes of others",
    "privileged": "holds a privilege, or could gain one",
    "executes": "executes a program of its own",
    "finds": "finds what another case has left",
}
LOADS = {"loads": "loads code that it wrote itself"}
MAKES = {"makes": "runs machine code, from memory or from a file, though the task's programs are scripts"}


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Make each try in a case of its own."""
    policy = scene.sides.policy
    tries = TRIES | (LOADS if policy.compiled or makes_code(policy) else MAKES)
    return judged(attempts(scene, tuple(tries)), tries, f"{len(tries)} ways out of a case are shut", "isolation")
