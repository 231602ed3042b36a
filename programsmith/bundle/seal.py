"""Sealing: clear bytes to a sealed file and its seal.json. Equal inputs give equal bytes.

Key = HKDF(secret, bundle identity, purpose); nonce = HMAC(key, SHA-256(plaintext))[:12], so a key never meets one nonce
with two plaintexts. Inline, the secret is SHA-256(label and plaintext): a value that is published nowhere but beside
the ciphertext, and that nothing public yields.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from programsmith.errors import InfraError
from programsmith.payload.verifier.unseal import NONCE_BYTES, Purpose, Seal, SealError, bound, derive_key
from programsmith.payload.verifier.unseal import decode_seal as _decode_seal
from programsmith.payload.verifier.unseal import encode_seal as _encode_seal
from programsmith.payload.verifier.unseal import unseal as _unseal

_LABEL = b"programsmith inline secret\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A sealed file's bytes and the bytes of the seal.json that goes beside it."""

    content: bytes
    seal: bytes


def seal(plaintext: bytes, *, identity: str, purpose: Purpose, owner_secret: bytes | None = None) -> Sealed:
    """Seal `plaintext`; with `owner_secret` the secret is the owner's and stands nowhere, else it is kept inline."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    inline = None if owner_secret is not None else hashlib.sha256(_LABEL + plaintext).digest()
    secret = owner_secret if owner_secret is not None else hashlib.sha256(_LABEL + plaintext).digest()
    facts = Seal(identity=identity, purpose=purpose, secret=inline)
    key = derive_key(secret, facts)
    nonce = hmac.digest(key, hashlib.sha256(plaintext).digest(), "sha256")[:NONCE_BYTES]
    return Sealed(content=nonce + AESGCM(key).encrypt(nonce, plaintext, bound(facts)), seal=_encode_seal(facts))


def unseal(sealed: Sealed, owner_secret: bytes | None = None) -> bytes:
    """The clear bytes of a sealed file. Raises InfraError: a bundle of ours that does not open is no score."""
    try:
        return _unseal(sealed.content, _decode_seal(sealed.seal), owner_secret)
    except SealError as fault:
        raise InfraError(f"unseal: {fault}") from fault
