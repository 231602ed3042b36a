"""What asks the original is there where the plan says so, and nowhere else: it is ours, byte for byte.

The agent's side holds that one command. What answers it lies where the solution lies, sealed: the original and no
other, with the meter that the task states and the variables of public cases. The verifier's side holds neither: at
grading there is nobody to ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.answers import ANSWERING, ORIGINAL
from programsmith.bundle.render import reference, variables
from programsmith.bundle.seal import Sealed, unseal
from programsmith.bundle.submissions import NOTE
from programsmith.bundle.tree import REFERENCE
from programsmith.bundle.zipapp import ask_pyz
from programsmith.checks.base import Row, Scene, first
from programsmith.errors import InfraError
from programsmith.payload.query.given import decode_given
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
        elif not path.startswith(REFERENCE) and not (asked and path in ANSWERING) and _asks(scene, path):
            yield f"{path}: holds what asks the original, or answers"
    if asked:
        yield from _answers(scene)


def _answers(scene: Scene) -> Iterator[str]:
    """Faults of what whoever answers is given."""
    try:
        clear = unseal(Sealed(content=scene.content(ORIGINAL), seal=scene.content(NOTE)), scene.owner_secret)
        given = decode_given(clear)
    except (InfraError, ValueError, KeyError, TypeError) as fault:
        yield f"{ORIGINAL}: wanted the original, sealed: {fault}"
        return
    meter = {name: getattr(given.meter, name) for name in ("queries", "bytes")}
    pairs = {
        "the original's tree": (sorted(given.tree), sorted(scene.oracle)),
        "the meter of the plan": (meter, scene.sides.plan.notes["queries"]),
        "variables of public cases": ([v.decode() for v in given.variables], list(variables(scene.sides.public))),
    }
    yield from (f"{ORIGINAL}: wanted {what}, got something else" for what, (got, want) in pairs.items() if got != want)


def _asks(scene: Scene, path: str) -> bool:
    content = scene.content(path)
    return _ASKS in content or SOCKET.encode() in content
