"""One build, proof or export of a spec at a time, and the premises of any build.

In: a project, a spec's folder. Out: a held lock. Refuses a second one (InfraError), another platform and a cache that
cannot be written, locked or executed from (PrerequisiteError).
"""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from programsmith.compiler.action import is_full
from programsmith.compiler.paths import Folder, Project
from programsmith.compiler.quiet import ELSEWHERE
from programsmith.errors import InfraError, PrerequisiteError


def check_premises(project: Project) -> None:
    """Raise PrerequisiteError where nothing could be built here."""
    if not sys.platform.startswith("linux"):
        raise PrerequisiteError(ELSEWHERE.format(sys.platform))
    try:
        project.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=project.cache) as probe:
            fcntl.flock(probe, fcntl.LOCK_EX)
    except OSError as fault:
        if is_full(fault):
            raise
        raise _unusable(project, f"cannot be written ({fault.strerror})") from fault
    if os.statvfs(project.cache).f_flag & os.ST_NOEXEC:
        raise _unusable(project, "lies on a file system mounted noexec, where built programs cannot run")


def _unusable(project: Project, what: str) -> PrerequisiteError:
    return PrerequisiteError(f"{project.cache} {what}; make {project.root} a folder that you can write and execute in")


@contextmanager
def held(folder: Folder) -> Iterator[None]:
    """Hold the spec's lock; the kernel drops it when the process ends. Raises InfraError where another holds it."""
    folder.root.mkdir(parents=True, exist_ok=True)
    with folder.lock.open("a+", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            line = f"another build of {folder.name} is running, pid {holder}, or a proof or an export of it"
            raise InfraError(f"{line}; wait or end it") from fault
        handle.truncate(0)
        handle.write(f"{os.getpid()}\n")
        handle.flush()
        yield
