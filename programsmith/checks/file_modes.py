"""Modes and owners of what is shipped say nothing and grant nothing.

Every file is 0644 or 0755 and every folder 0755, of one owner, with one name; none is set-uid, none carries a
capability. An archive or an image copies whatever else there was.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programsmith.checks.base import Row, Scene, first

FILES, FOLDERS = (0o644, 0o755), (0o755,)
CAPABILITY = "security.capability"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Look at each file and folder as it lies there."""
    owner = os.lstat(scene.bundle)
    paths = sorted(scene.bundle.rglob("*"))
    found = [f"{path.relative_to(scene.bundle)}: {fault}" for path in paths for fault in _faults(path, owner)]
    return Row(
        passed=not found,
        reason=first(found, f"modes of {len(paths)} files and folders are plain", "mode"),
        evidence={"faults": found, "entries": len(paths)},
    )


def _faults(path: Path, owner: os.stat_result) -> Iterator[str]:
    status = path.lstat()
    mode, is_folder = stat.S_IMODE(status.st_mode), stat.S_ISDIR(status.st_mode)
    if is_folder:
        mode &= ~stat.S_ISGID  # a folder below one that a group shares has it, and no archive keeps it
    wanted = FOLDERS if is_folder else FILES
    if mode not in wanted:
        yield f"wanted mode {' or '.join(f'{m:04o}' for m in wanted)}, got {mode:04o}"
    if (status.st_uid, status.st_gid) != (owner.st_uid, owner.st_gid):
        yield f"wanted the bundle's owner {owner.st_uid}:{owner.st_gid}, got {status.st_uid}:{status.st_gid}"
    if not is_folder and status.st_nlink > 1:
        yield f"wanted one name, got {status.st_nlink}"
    if CAPABILITY in _attributes(path):
        yield "carries a capability"


def _attributes(path: Path) -> list[str]:
    """Names of extended attributes; none where the file system has none."""
    try:
        return os.listxattr(path, follow_symlinks=False)
    except OSError:
        return []
