"""Sealed objects: bytes that a store keeps and cannot read, under names that it cannot guess.

In: clear bytes and the store key. Out: a name (an HMAC of their SHA-256) and the same ciphertext for the same bytes:
AES-256-GCM with nonce = HMAC(key, SHA-256(bytes))[:12], bound to the name. Altered bytes do not open.
"""

from __future__ import annotations

import hmac

NONCE_BYTES = 12


class Box:
    """Seals and opens with one store key."""

    def __init__(self, key: bytes) -> None:
        self._key = hmac.digest(key, b"programsmith sealed objects", "sha256")
        self._names = hmac.digest(key, b"programsmith sealed names", "sha256")

    def name(self, digest: str) -> str:
        """The name of the object whose clear bytes have this SHA-256."""
        return hmac.digest(self._names, bytes.fromhex(digest), "sha256").hex()

    def seal(self, content: bytes, digest: str) -> bytes:
        """The sealed form of bytes with this SHA-256."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = hmac.digest(self._key, bytes.fromhex(digest), "sha256")[:NONCE_BYTES]
        return nonce + AESGCM(self._key).encrypt(nonce, content, bytes.fromhex(self.name(digest)))

    def open(self, sealed: bytes, name: str) -> bytes | None:
        """The clear bytes; None where they were altered, sealed with another key or put under another name."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(self._key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bytes.fromhex(name))
        except (InvalidTag, ValueError):
            return None
