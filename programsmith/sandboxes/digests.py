"""Digests and ELF needs of host files, remembered by (path, modification time, size, inode).

In: host paths. Out: `Facts`. The memory lies in the shared folder and may vanish at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.sandboxes.elf import Needs, needs_of
from programsmith.sandboxes.owners import prefix


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a file's content. `shebang` is its first line without `#!`, for scripts."""

    sha256: str
    needs: Needs | None
    shebang: str


class Digests:
    """The memory. Not shared between threads; the last writer wins, since every entry is checked against its stamp."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, Any] = {}
        self._changed = False
        with contextlib.suppress(OSError, ValueError):
            self._known = json.loads(file.read_bytes())

    def of(self, path: str) -> Facts:
        """Facts of a regular file. Raises OSError."""
        seen = os.stat(path)
        stamp = [seen.st_mtime_ns, seen.st_size, seen.st_ino]
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = [stamp, *_examine(path, seen)]
            self._known[path] = known
            self._changed = True
        _, digest, needs, shebang = known
        return Facts(digest, Needs(needs[0], tuple(needs[1]), tuple(needs[2])) if needs else None, shebang)

    def save(self) -> None:
        """Write the memory if something was learnt."""
        if not self._changed:
            return
        fd, name = tempfile.mkstemp(prefix=prefix(".part"), dir=self._file.parent)
        with open(fd, "w", encoding="ascii") as out:
            json.dump(self._known, out)
        os.replace(name, self._file)
        self._changed = False


def _examine(path: str, seen: os.stat_result) -> tuple[str, Any, str]:
    if not stat.S_ISREG(seen.st_mode):
        raise OSError(f"{path}: not a regular file")
    with open(path, "rb") as source:
        content = source.read()
    needs = needs_of(content)
    first = content[:256].split(b"\n", 1)[0]
    shebang = os.fsdecode(first[2:].strip()) if first.startswith(b"#!") else ""
    known = (needs.interpreter, needs.libraries, needs.search) if needs else None
    return hashlib.sha256(content).hexdigest(), known, shebang
