"""The bundle's own solution in clear: files that score 1. Only the owner's side of the pipeline may hold them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from programsmith.bundle.seal import Sealed, unseal
from programsmith.payload.verifier.model import FileEntry


def solution(bundle: Path, owner_secret: bytes | None = None) -> tuple[FileEntry, ...]:
    """The files of the sealed solution. Raises InfraError where it does not open."""
    folder = bundle / "solution"
    sealed = Sealed(content=(folder / "solution.sealed").read_bytes(), seal=(folder / "seal.json").read_bytes())
    clear = io.BytesIO(unseal(sealed, owner_secret))
    with tarfile.open(fileobj=clear, encoding="utf-8", errors="surrogateescape") as tar:
        members = [(m, tar.extractfile(m)) for m in tar if m.isfile()]
        return tuple(
            FileEntry(m.name.encode("utf-8", "surrogateescape"), "file", m.mode, body.read())
            for m, body in members
            if body
        )
