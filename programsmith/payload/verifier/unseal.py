"""Sealed bytes to clear ones, and the grader's own protection: the one file that imports cryptography.

A sealed file is nonce (12 bytes) and AES-256-GCM ciphertext; seal.json beside it says how the key is found. The key
is HKDF-SHA256(secret, bundle identity, purpose). The secret stands in seal.json (`inline`), or the owner gives it by
the environment (`owner`): it is read once, wiped there, and the process is made non-dumpable.
"""

from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

from programsmith.payload.verifier.model import b64, canonical, unb64

SECRET_NAME = "PROGRAMSMITH_SECRET"  # noqa: S105 - the variable's name
NONCE_BYTES = 12
_PR_SET_DUMPABLE = 4


class Purpose(StrEnum):
    """What a sealed file holds. One key per purpose."""

    HELD_OUT = "held_out"
    SOLUTION = "solution"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """What seal.json says: the bundle's identity, the purpose, and the secret where it is kept inline."""

    identity: str
    purpose: Purpose
    secret: bytes | None


class SealError(Exception):
    """A sealed file cannot be opened. The message says what was wanted and what to do."""


def encode_seal(seal: Seal) -> bytes:
    """The bytes of seal.json."""
    mode = "owner" if seal.secret is None else "inline"
    secret = None if seal.secret is None else b64(seal.secret)
    value = {"identity": seal.identity, "purpose": seal.purpose.value, "mode": mode, "secret": secret}
    return json.dumps(value, indent=1, sort_keys=True).encode("ascii") + b"\n"


def decode_seal(raw: bytes) -> Seal:
    """Seal of seal.json. Raises SealError."""
    try:
        value = json.loads(raw)
        seal = Seal(
            identity=value["identity"],
            purpose=Purpose(value["purpose"]),
            secret=None if value["secret"] is None else unb64(value["secret"]),
        )
        if value["mode"] != ("owner" if seal.secret is None else "inline") or not isinstance(seal.identity, str):
            raise SealError(f"seal.json: mode {value['mode']!r} and its secret do not agree")
    except (ValueError, KeyError, TypeError) as fault:
        raise SealError(f"seal.json: wanted identity, purpose, mode and secret: {fault!r}") from fault
    return seal


def libraries() -> None:
    """Import what unsealing takes."""
    for name in ("hazmat.primitives.ciphers.aead", "hazmat.primitives.hashes", "hazmat.primitives.kdf.hkdf"):
        import_module(f"cryptography.{name}")


def derive_key(secret: bytes, seal: Seal) -> bytes:
    """The key (32 bytes) of one purpose in one bundle."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = canonical([seal.identity, seal.purpose.value])
    return HKDF(algorithm=SHA256(), length=32, salt=b"programsmith seal", info=info).derive(secret)


def bound(seal: Seal) -> bytes:
    """What the ciphertext is bound to, so that a sealed file of another bundle or purpose does not open."""
    return canonical([seal.identity, seal.purpose.value])


def unseal(sealed: bytes, seal: Seal, owner_secret: bytes | None) -> bytes:
    """The clear bytes. Raises SealError on a wrong or missing secret and on altered bytes."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    secret = seal.secret if seal.secret is not None else owner_secret
    if not secret:  # what starts a container may hand on a variable that nobody set
        raise SealError(f"the bundle is sealed by its owner: give the secret as hexadecimal digits in {SECRET_NAME}")
    try:
        return AESGCM(derive_key(secret, seal)).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound(seal))
    except (InvalidTag, ValueError) as fault:
        raise SealError(f"{seal.purpose.value}: the sealed bytes do not open with this secret") from fault


def take_secret() -> bytes | None:
    """The owner's secret from the environment, wiped there, also from what /proc shows. Raises SealError."""
    given = os.environ.get(SECRET_NAME)  # noqa: TID251 - the verifier's own command line
    if given is None:
        return None
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    address = libc.getenv(SECRET_NAME.encode("ascii"))
    if address:
        ctypes.memset(address, 0, len(given))
    del os.environ[SECRET_NAME]  # noqa: TID251
    try:
        return bytes.fromhex(given)
    except ValueError:
        raise SealError(f"{SECRET_NAME}: wanted an even number of hexadecimal digits") from None


def refuse_dumps() -> None:
    """Make this process unreadable to others of its uid: no ptrace, no /proc/PID/mem, no core. Raises SealError."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise SealError(f"cannot become non-dumpable: errno {ctypes.get_errno()}")
