"""What an exported task consists of, signed: manifest.json names every file, signature.json says who vouches for it.

In: the files of an export, the exporter's seed. Out: these two files; the same inputs give the same bytes (Ed25519,
RFC 8032, draws no random number). The signature is over the bytes of manifest.json. Harbor reads neither file. Refuses
what is no manifest, no signature, or a signature that does not hold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from programsmith.errors import InputError, boundary
from programsmith.payload.verifier.model import FileEntry, b64, canonical, unb64

MANIFEST = "manifest.json"
SIGNATURE = "signature.json"
FORM = "programsmith manifest 1"
ALGORITHM = "ed25519"
EXECUTABLE = 0o111
KEY_BYTES = 32


@dataclass(frozen=True, slots=True, order=True)
class Named:
    """What a manifest says of one file: whether it is executable, which of all modes git and archives keep; SHA-256."""

    mode: int
    sha256: str

    @classmethod
    def of(cls, entry: FileEntry) -> Named:
        """What it says of this file."""
        return cls(0o755 if entry.mode & EXECUTABLE else 0o644, hashlib.sha256(entry.content).hexdigest())

    def __str__(self) -> str:
        return f"{self.mode:04o} sha256:{self.sha256}"


def manifest(task: str, entries: Iterable[FileEntry]) -> bytes:
    """The bytes of manifest.json: the task's name, and every file by path."""
    rows = {e.path.decode("ascii"): Named.of(e) for e in entries}
    files = {path: {"mode": f"{row.mode:04o}", "sha256": row.sha256} for path, row in rows.items()}
    return canonical({"form": FORM, "task": task, "files": files})


def signature(raw: bytes, seed: bytes) -> bytes:
    """The bytes of signature.json for a manifest. `seed` is the exporter's, 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.from_private_bytes(seed)
    public = private.public_key().public_bytes_raw()
    return canonical({"algorithm": ALGORITHM, "key": public.hex(), "signature": b64(private.sign(raw))})


def read_manifest(raw: bytes) -> tuple[str, dict[str, Named]]:
    """The task's name, and what is said of each file by path. Raises InputError."""
    with boundary(InputError, f"{MANIFEST}: no manifest", ValueError, KeyError, TypeError, RecursionError):
        value: Any = json.loads(raw)
        if value["form"] != FORM or canonical(value) != raw:
            raise ValueError(f"wanted the canonical form of {FORM!r}")
        files = {str(path): Named(int(row["mode"], 8), str(row["sha256"])) for path, row in value["files"].items()}
        return str(value["task"]), files


def signer(raw: bytes, signed: bytes) -> bytes:
    """The public key (32 bytes) that the manifest is signed with. Raises InputError where the signature is not its."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    with boundary(InputError, f"{SIGNATURE}: no signature", ValueError, KeyError, TypeError, RecursionError):
        value: Any = json.loads(signed)
        if value["algorithm"] != ALGORITHM:
            raise ValueError(f"wanted {ALGORITHM}, got {value['algorithm']!r}")
        key, mark = bytes.fromhex(value["key"]), unb64(value["signature"])
        public = Ed25519PublicKey.from_public_bytes(key)
    try:
        public.verify(mark, raw)
    except InvalidSignature as fault:
        raise InputError(f"{SIGNATURE}: it is no signature of {MANIFEST} by the key {key.hex()}") from fault
    return key
