"""What a killed run leaves, and its removal at the next start: half-made artifacts, scratch, processes, control groups.

In: a spec's folder whose lock is held. Out: nothing of an earlier run, be it of a build, a proof or an export.
cache/<name>/run.json says which process runs; after a run it is there only where that run did not come to its end.
Refuses nothing; a process of somebody else that got a dead run's number is left alone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from programsmith.bundle.dataset import WITH_BASE, clear_draft, tar_of
from programsmith.compiler.action import remove
from programsmith.compiler.paths import Folder, part
from programsmith.payload.verifier.cgroup import open_pool
from programsmith.records import codec
from programsmith.sandboxes.owners import began, boot, stat
from programsmith.sandboxes.scratch import mark_temporaries, reap_scratch

HALF_MADE = (".part", ".former")
PLACES = ("*", "r*/*", "r*/b*/*", "r*/trials/*/*/*", "r*/trials/ceiling/*/*/*")
MARK = "PROGRAMSMITH_RUN"
"""The variable by which a process that leaves the run's session is known, such as git with nobody to ask."""
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A run: its process, when that began (clock ticks since boot), in which boot; whether a session is its own."""

    pid: int
    began: int
    boot: str
    leads: bool


@contextlib.contextmanager
def recorded(folder: Folder) -> Iterator[None]:
    """Remove what an earlier run left; leave a record of this run until it comes to its end, be that a fault."""
    reap(folder)
    folder.root.mkdir(parents=True, exist_ok=True)
    own = os.getpid()
    run = Running(pid=own, began=began(own), boot=boot(), leads=os.getsid(0) == own)
    os.environ[MARK] = _marked(run)
    codec.dump(folder.run, run)
    template = mark_temporaries()
    try:
        yield
    except Exception:
        _unmark(template)
        _clear(folder)
        raise
    finally:
        shutil.rmtree(folder.scratch, ignore_errors=True)
    # An interrupt does not come here: blocks run on in threads until the process ends, and what they make stays marked.
    _unmark(template)
    folder.run.unlink(missing_ok=True)


def _unmark(template: str) -> None:
    """What this process makes from now on is no run's."""
    os.environ.pop(MARK, None)
    tempfile.template = template


def reap_shared() -> None:
    """Remove what dead runs left where several write: scratch, control groups. Raises PrerequisiteError."""
    reap_scratch()
    open_pool()


def running(folder: Folder) -> int | None:
    """The first process of a run that goes on, None where none does. For who only looks: no lock is tried."""
    try:
        run = codec.load(folder.run, Running)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return run.pid if run.boot == boot() and began(run.pid) == (run.began or None) else None


def reap(folder: Folder) -> None:
    """Remove what a run that did not come to its end left. The spec's lock is held."""
    if not os.path.lexists(folder.run):
        return
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        _end_orphans(codec.load(folder.run, Running))
    open_pool()  # their control groups can go now
    shutil.rmtree(folder.scratch, ignore_errors=True)
    _clear(folder)


def _clear(folder: Folder) -> None:
    """Remove what is half made, and the record of the run."""
    for pattern in PLACES:
        for path in folder.root.glob(pattern):
            if path.suffix in HALF_MADE:
                remove(path)
    for place in _exports(folder):
        for suffix in HALF_MADE:
            remove(place.with_name(place.name + suffix))
        tar = part(tar_of(place))
        if not tar.is_dir():  # a task may be called so
            remove(tar)
    clear_draft(folder.project.dist)
    folder.run.unlink(missing_ok=True)


def _exports(folder: Folder) -> Iterator[Path]:
    """Where the spec's task may lie in dist/, as a folder."""
    yield from (folder.exported(outcome) for outcome in ("ship", "draft", "shelve_easy", "shelve_hard"))
    yield folder.project.dist / WITH_BASE / folder.name


def _end_orphans(run: Running) -> None:
    """End processes of a run whose first process is gone."""
    if run.boot != boot():
        return
    if run.leads and not began(run.pid):  # one that lives is another's: a session keeps its number to its end
        end_session(run.pid, run.began)
    _end(lambda: [pid for pid, _, _ in _processes() if _environment(pid, MARK) == _marked(run)])


def _marked(run: Running) -> str:
    return f"{run.boot}:{run.pid}:{run.began}"


def end_session(session: int, since: int = 0) -> None:
    """Kill all processes of a session that began no sooner than `since`, until none is left."""
    _end(lambda: [pid for pid, of, when in _processes() if of == session and when >= since])


def _end(members: Callable[[], list[int]]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        found = members()
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _processes() -> Iterator[tuple[int, int, int]]:
    """Pid, session and start of every process that is not yet dead."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            words = stat(int(name))
            if words and words[0] not in "ZX":
                yield int(name), int(words[3]), int(words[19])


def _environment(pid: int, name: str) -> str:
    """A variable that a process was started with; empty where it has none, or is somebody else's."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    start = f"{name}=".encode()
    return next((word[len(start) :].decode("ascii", "replace") for word in words if word.startswith(start)), "")
