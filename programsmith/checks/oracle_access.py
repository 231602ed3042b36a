"""What asks the original is there where the plan says so, and nowhere else: it is ours, byte for byte.

The agent's side holds that one command. The verifier's side and the solution hold neither it nor what answers it: at
grading there is nobody to ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.render import reference, variables
from programsmith.bundle.tree import REFERENCE
from programsmith.bundle.zipapp import ask_pyz
from programsmith.checks.base import Row, Scene, first
from programsmith.payload.query.wire import SOCKET

_ASKS = b"programsmith/payload/query/"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare the command with this installation's, and look for another."""
    meter = scene.sides.plan.notes.get("queries")
    found = list(_faults(scene, asked=meter is not None))
    good = "nothing asks the original" if meter is None else "one command asks the original, and is absent at grading"
    return Row(passed=not found, reason=first(found, good, "access"), evidence={"faults": found, "meter": meter})


def _faults(scene: Scene, *, asked: bool) -> Iterator[str]:
    own = reference(scene.manifest.tool)
    if asked and scene.content(own) != ask_pyz(variables(scene.sides.public)):
        yield f"{own}: wanted the command of this installation"
    for path in sorted(scene.files):
        if path.startswith(REFERENCE) and not (asked and path == own):
            yield f"{path}: wanted nothing that asks the original"
        elif not path.startswith(REFERENCE) and _asks(scene, path):
            yield f"{path}: holds what asks the original, or answers"


def _asks(scene: Scene, path: str) -> bool:
    content = scene.content(path)
    return _ASKS in content or SOCKET.encode() in content
