"""Temporary folders that tell whose they are, so that the next process removes what a killed one left.

In: a kind, a folder that several may write. Out: a fresh folder whose name begins with its owner's mark. What lies
there may have been made by submitted code, so it is removed without following a link.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.sandboxes import hostile
from programsmith.sandboxes.owners import is_orphan, prefix
from programsmith.sandboxes.shared import shared_root


@contextmanager
def scratch(kind: str, parent: Path | None = None) -> Iterator[Path]:
    """A folder of this process where temporary files go, or in another place that is reaped; removed afterwards."""
    with tempfile.TemporaryDirectory(prefix=prefix(kind), dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def places() -> tuple[Path, Path]:
    """Where dead owners are looked for: the folder of temporary files, the shared root. Raises PrerequisiteError."""
    return Path(tempfile.gettempdir()), shared_root()


def mark_temporaries() -> str:
    """What this process makes from now on by tempfile without a prefix bears its mark. Returns the former template."""
    former, tempfile.template = tempfile.template, prefix("temporary")
    return former


def reap_scratch() -> None:
    """Remove what dead owners left. Raises PrerequisiteError."""
    for parent in places():
        with contextlib.suppress(OSError):
            for name in filter(is_orphan, os.listdir(parent)):
                _remove(parent / name)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError, InfraError):  # somebody else's, or somebody else is removing it
        if path.is_dir() and not path.is_symlink():
            hostile.remove_tree(path)
        else:
            path.unlink()
