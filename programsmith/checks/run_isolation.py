"""A case is alone: it reads nothing of the verifier, leaves nothing, sees nobody, gains nothing, starts what is listed.

The bundle's own verifier grades a program that answers exactly where it could do what it must not be able to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.checks.attempts import attempts, judged
from programsmith.checks.base import Row, Scene

TRIES = {
    "reads": "reads the verifier's or the host's files",
    "writes": "leaves a file outside its work directory",
    "others": "sees processes of others",
    "privileged": "holds a privilege, or could gain one",
    "executes": "executes a program of its own",
    "finds": "finds what another case has left",
}


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Make each try in a case of its own."""
    return judged(attempts(scene, tuple(TRIES)), TRIES, f"{len(TRIES)} ways out of a case are shut", "isolation")
