"""A spec's folder as it would be: artifacts and records that a build would take from the store lie elsewhere.

In: a folder, a place that may be written. Out: the same paths, but for those that were laid elsewhere. Nothing below
cache/ is written.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from programsmith.compiler.paths import Folder, Spot


@dataclass(frozen=True, slots=True)
class Shadow(Folder):
    """`place` takes what is laid there; `laid` maps paths of the folder to paths in it."""

    place: Path = Path()
    laid: dict[Path, Path] = field(default_factory=dict, compare=False)

    @property
    def verdict(self) -> Path:
        """See Folder."""
        return self._at_last(self.root / "verdict.json")

    def record(self, block: str, spot: Spot) -> Path:
        """See Folder."""
        return self._at_last(Folder.record(self, block, spot))

    def artifact(self, name: str, spot: Spot) -> Path:
        """See Folder."""
        return self._at_last(Folder.artifact(self, name, spot))

    def fresh(self) -> Path:
        """A folder of its own in the place."""
        return Path(tempfile.mkdtemp(dir=self.place))

    def lay(self, path: Path, elsewhere: Path) -> None:
        """From now on `path` is what lies `elsewhere`."""
        self.laid[path] = elsewhere

    def _at_last(self, path: Path) -> Path:
        return self.laid.get(path, path)
