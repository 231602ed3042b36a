"""What is sealed can be read by nobody without its key, opens with it, and its key lies on no agent's side.

Sealing again gives the same bytes; the two purposes have two keys; the sealed cases are the manifest's.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.answers import ANSWERS_NOTE, ORIGINAL
from programsmith.bundle.seal import Sealed, seal, unseal
from programsmith.bundle.submissions import NOTE, SEALED
from programsmith.checks.base import Row, Scene, first
from programsmith.errors import InfraError
from programsmith.payload.query.search import RunIndex
from programsmith.payload.verifier.unseal import Purpose, Seal, SealError, decode_seal, derive_key

PARTS = {
    Purpose.HELD_OUT: ("tests/held_out.sealed", "tests/seal.json"),
    Purpose.SOLUTION: ("solution/solution.sealed", "solution/seal.json"),
}

BESIDE = {SEALED: NOTE, ORIGINAL: ANSWERS_NOTE}
"""What is under the key of the solution, and the note beside it: submissions, the original where it answers."""


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Open all, seal all again, look for keys and for clear text."""
    missing = [p for p in (*(p for pair in PARTS.values() for p in pair), SEALED) if p not in scene.files]
    if missing:
        return Row(passed=False, reason=f"{missing[0]} is missing", evidence={"faults": missing})
    found = [fault for purpose in PARTS for fault in _faults(scene, purpose, parameters)]
    keys = {_key(scene, purpose) for purpose in PARTS}
    if len(keys) != len(PARTS):
        found.append("both purposes have one key")
    for sealed, note in BESIDE.items():
        if sealed in scene.files:
            found += _beside_the_solution(scene, sealed, note)
    found += [f"{path} holds a key" for path in _key_places(scene, keys)]
    return Row(
        passed=not found,
        reason=first(found, "both sides are sealed under keys of their own", "seal"),
        evidence={"faults": found, "held_out": len(scene.manifest.held_out)},
    )


def _faults(scene: Scene, purpose: Purpose, parameters: Mapping[str, Any]) -> Iterator[str]:
    content, note = (scene.files[p].content for p in PARTS[purpose])
    facts = _facts(scene, purpose)
    if facts is None or facts.purpose is not purpose:
        yield f"{PARTS[purpose][1]} does not seal {purpose.value}"
        return
    try:
        clear = unseal(Sealed(content=content, seal=note), scene.owner_secret)
    except InfraError as fault:
        yield f"{PARTS[purpose][0]} does not open: {fault}"
        return
    owner = scene.owner_secret if facts.secret is None else None
    if seal(clear, identity=facts.identity, purpose=purpose, owner_secret=owner).content != content:
        yield f"{PARTS[purpose][0]} is not what sealing its clear text gives"
    index = RunIndex([clear], parameters["run_bytes"], parameters["distinct_bytes"])
    if any(index.runs(content)):
        yield f"{PARTS[purpose][0]} shows its clear text"
    if purpose is Purpose.HELD_OUT and _ids(scene) != set(scene.manifest.held_out):
        yield "the sealed cases are not those of the manifest"


def _beside_the_solution(scene: Scene, path: str, note: str) -> Iterator[str]:
    """Faults of what the solution's key opens too."""
    content, facts = scene.files[path].content, _facts(scene, Purpose.SOLUTION)
    if scene.content(note) != scene.content(NOTE):
        yield f"{note}: wanted what is said of the solution"
    secret = (facts.secret or scene.owner_secret) if facts else None
    if facts is None or secret is None:
        return
    try:
        clear = unseal(Sealed(content=content, seal=scene.files[NOTE].content), secret)
    except InfraError as fault:
        yield f"{path} does not open: {fault}"
        return
    if seal(clear, identity=facts.identity, purpose=facts.purpose, owner_secret=secret).content != content:
        yield f"{path} is not what sealing its clear text gives"


def _facts(scene: Scene, purpose: Purpose) -> Seal | None:
    try:
        return decode_seal(scene.files[PARTS[purpose][1]].content)
    except SealError:
        return None


def _ids(scene: Scene) -> set[str]:
    try:
        return {c.case.id for c in scene.sides.held_out}
    except InfraError:
        return set()


def _key(scene: Scene, purpose: Purpose) -> bytes | None:
    facts = _facts(scene, purpose)
    secret = facts and (facts.secret or scene.owner_secret)
    return derive_key(secret, facts) if facts and secret else None


def _key_places(scene: Scene, keys: set[bytes | None]) -> list[str]:
    """Files of the agent's side, and of the whole bundle where the owner seals, that hold a secret or a key."""
    secrets = {k for k in keys if k}
    for purpose in PARTS:
        facts = _facts(scene, purpose)
        secrets |= {s for s in (facts.secret if facts else None, scene.owner_secret) if s}
    forms = {form for s in secrets for form in (s, s.hex().encode(), base64.b64encode(s))}
    owner = scene.owner_secret is not None
    searched = scene.files if owner else scene.agent
    return sorted(path for path in searched if any(form in text for text in scene.texts(path) for form in forms))
