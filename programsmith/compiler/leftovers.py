"""What a killed run leaves, and its removal at the next start: half-made artifacts, scratch folders, processes.

In: a spec's folder whose lock is held. Out: nothing of an earlier run. cache/<name>/run.json says which session runs;
after a run it is there only where that run did not come to its end. Refuses nothing; a process of somebody else that
got a dead run's number is left alone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from programsmith.compiler.action import remove
from programsmith.compiler.paths import Folder
from programsmith.records import codec

HALF_MADE = (".part", ".former")
PLACES = ("*", "r*/*", "r*/b*/*", "r*/trials/*/*/*", "r*/trials/ceiling/*/*/*")
BOOT = Path("/proc/sys/kernel/random/boot_id")
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A run: its session, when that began (clock ticks since boot), in which boot. 0: it has no session of its own."""

    session: int
    began: int
    boot: str


@contextlib.contextmanager
def recorded(folder: Folder) -> Iterator[None]:
    """Remove what an earlier run left; leave a record of this run until it comes to its end."""
    reap(folder)
    folder.root.mkdir(parents=True, exist_ok=True)
    own = os.getpid() if os.getsid(0) == os.getpid() else 0
    codec.dump(folder.run, Running(session=own, began=_began(own), boot=_boot()))
    try:
        yield
    finally:
        shutil.rmtree(folder.scratch, ignore_errors=True)
    folder.run.unlink(missing_ok=True)


def running(folder: Folder) -> int | None:
    """The first process of a run that goes on, None where none does. For who only looks: no lock is tried."""
    try:
        run = codec.load(folder.run, Running)
        pid = run.session or int(folder.lock.read_text("ascii"))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    began = _began(pid)
    return pid if run.boot == _boot() and began and began == (run.began or began) else None


def reap(folder: Folder) -> None:
    """Remove what a run that did not come to its end left. The spec's lock is held."""
    if not os.path.lexists(folder.run):
        return
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        _end_orphans(codec.load(folder.run, Running))
    shutil.rmtree(folder.scratch, ignore_errors=True)
    for place in PLACES:
        for path in folder.root.glob(place):
            if path.suffix in HALF_MADE:
                remove(path)
    for path in (folder.exported(outcome) for outcome in ("ship", "draft", "shelve_easy", "shelve_hard")):
        for suffix in HALF_MADE:
            remove(path.with_name(path.name + suffix))
    folder.run.unlink(missing_ok=True)


def _end_orphans(run: Running) -> None:
    """End processes of a run whose first process is gone."""
    if not run.session or run.boot != _boot() or _began(run.session):
        return  # another boot's numbers; a first process that lives, so that the number is another's
    end_session(run.session, run.began)


def end_session(session: int, began: int = 0) -> None:
    """Kill all processes of a session that began no sooner than `began`, until none is left."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        members = [pid for pid, of, when in _processes() if of == session and when >= began]
        if not members:
            return
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _processes() -> Iterator[tuple[int, int, int]]:
    """Pid, session and start of every process that is not yet dead."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            words = _stat(int(name))
            if words and words[0] not in "ZX":
                yield int(name), int(words[3]), int(words[19])


def _began(pid: int) -> int:
    """When a process began, 0 where there is none."""
    words = _stat(pid)
    return int(words[19]) if words and words[0] not in "ZX" else 0


def _stat(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the state on; a program's name may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "backslashreplace").rpartition(")")[2].split()
    except OSError:
        return []


def _boot() -> str:
    return BOOT.read_text("ascii").strip()
