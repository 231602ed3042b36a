"""Each sealed file opens with its own key and with no other one: who may grade cannot open the solution.

Both are tried for real: under the other one's key with each one's binding, and with the cases' own seal.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from programsmith.checks.base import Row, Scene, first
from programsmith.payload.verifier.unseal import NONCE_BYTES, Seal, SealError, bound, decode_seal, derive_key

PARTS = {
    "held_out": ("tests/held_out.sealed", "tests/seal.json"),
    "solution": ("solution/solution.sealed", "solution/seal.json"),
}


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Try every key and binding at either file."""
    opened = [(name, other) for name, other in product(PARTS, PARTS) if _opens(scene, name, other)]
    wanted = [(name, name) for name in PARTS]
    found = [
        f"{PARTS[name][0]}: wanted to open with the seal of {name}, got nothing"
        for name, other in wanted
        if (name, other) not in opened
    ]
    found += [
        f"{PARTS[name][0]}: opens with the key of {other}" for name, other in opened if (name, other) not in wanted
    ]
    return Row(
        passed=not found,
        reason=first(found, "each opens with its own key alone", "key"),
        evidence={"faults": found},
    )


def _opens(scene: Scene, name: str, other: str) -> bool:
    """Whether the sealed file of one opens with the key of the other."""
    try:
        seals = {one: decode_seal(scene.content(note)) for one, (_, note) in PARTS.items()}
    except SealError:
        return False
    sealed, secret = scene.content(PARTS[name][0]), scene.owner_secret
    return any(_tried(sealed, seals[other], secret, binding) for binding in seals.values())


def _tried(sealed: bytes, key: Seal, owner_secret: bytes | None, binding: Seal) -> bool:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    secret = key.secret or owner_secret
    if secret is None:
        return False
    try:
        AESGCM(derive_key(secret, key)).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound(binding))
    except (InvalidTag, ValueError):
        return False
    return True
