"""The folder that ordinary users may read: copies of host files, compiled inits, workspaces of open sandboxes.

As root it is /var/lib/programsmith, so that a launch which became another user reaches it; otherwise it lies in the
user's cache. Things in it are named by their content, made aside under their maker's mark and renamed into place. A
file system that refuses execution is refused here, by name.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from programsmith.errors import PrerequisiteError
from programsmith.sandboxes.owners import prefix


def shared_root() -> Path:
    """The shared folder, made if need be. Raises PrerequisiteError where it cannot be written or executed from."""
    root = Path("/var/lib/programsmith") if os.geteuid() == 0 else Path("~/.cache/programsmith").expanduser()
    try:
        root.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as fault:
        raise PrerequisiteError(f"{root}: cannot be made ({fault.strerror}); make it writable for this user") from fault
    if not os.access(root, os.W_OK):
        raise PrerequisiteError(f"{root}: not writable; make it writable for this user")
    if os.statvfs(root).f_flag & os.ST_NOEXEC:
        raise PrerequisiteError(f"{root}: mounted noexec; programs are executed from it, remount it with exec")
    return root


def publish(name: str, build: Callable[[Path], None]) -> Path:
    """The folder `name` of the shared root; `build` fills it aside if it does not exist yet."""
    root = shared_root()
    final = root / name
    if final.is_dir():
        return final
    stage = Path(tempfile.mkdtemp(prefix=prefix(".part"), dir=root))
    stage.chmod(0o755)
    try:
        build(stage)
        stage.rename(final)
    except OSError:
        if not final.is_dir():  # else another process was faster
            raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return final


def keep_file(source: str, digest: str, mode: int) -> Path:
    """The one copy of a host file's content with this mode. Read-only by agreement: it is linked into trees."""
    root = shared_root()
    kept = root / "files" / f"{digest}-{mode:o}"
    if kept.exists():
        return kept
    kept.parent.mkdir(mode=0o755, exist_ok=True)
    fd, name = tempfile.mkstemp(prefix=prefix(".part"), dir=root)
    os.close(fd)
    shutil.copyfile(source, name)
    os.chmod(name, mode)
    os.replace(name, kept)
    return kept


def open_folders(place: Path) -> None:
    """Let everyone enter every folder below `place`, whatever umask made them. Files have their modes already."""
    for folder, _, _ in os.walk(place):
        os.chmod(folder, 0o755)  # noqa: S103 - others read and execute what lies here
