"""Copies of an installed tree, one per slot, each with one file edited at a time."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path


class Copies:
    """`edit` gives a slot's copy with the given files changed and everything else as in `tree`."""

    def __init__(self, tree: Path, scratch: Path) -> None:
        self._tree = tree
        self._scratch = scratch
        self._edited: dict[int, tuple[Path, tuple[Path, ...]]] = {}

    def edit(self, slot: int, files: Mapping[Path, bytes]) -> Path:
        """The slot's copy with `files` (paths in the tree), valid until the slot's next edit. Not for two threads."""
        copy, before = self._edited.get(slot, (self._scratch / f"mutant-{slot}", None))
        if before is None:
            shutil.copytree(self._tree, copy, symlinks=True)
        for path in before or ():
            if (self._tree / path).exists():
                shutil.copy2(self._tree / path, copy / path)
            else:
                (copy / path).unlink()
        for path, content in files.items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(content)
        self._edited[slot] = (copy, tuple(files))
        return copy

    def close(self) -> None:
        """Remove the copies."""
        for copy, _ in self._edited.values():
            shutil.rmtree(copy, ignore_errors=True)
