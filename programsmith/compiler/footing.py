"""What every stamp of a project stands on: the engine's code and the blocks', the rules, the host.

In: a project, the kind of compiler, the folder of the blocks' package, patterns of host files that are a cause. Out: a
digest of their content, kept with the stat results of every file, so that it need not be read again. Refuses nothing:
where something changes while it is looked at, or has not come to rest, there is no footing in this run.
"""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import programsmith
from programsmith.compiler.early import identity, known_footing
from programsmith.compiler.paths import Project
from programsmith.compiler.stamp import LEFT_BEHIND, PART, Stamp, States, Watched, formed
from programsmith.rulebook.load import packaged_rules
from programsmith.sandboxes.host import host_digest, interpreter
from programsmith.sandboxes.shared import shared_root

TICK_SECONDS, PATIENCE_SECONDS = 0.002, 0.05
MAGIC = frozenset("*?[")


def footing(project: Project, kind: str, code: Path, patterns: Sequence[str]) -> Stamp | None:
    """The footing on which stamps of this project stand now. Raises OSError, PrerequisiteError, InputError."""
    root = str(project.root)
    known = known_footing(root, kind)
    if known is not None:
        return known
    folders = [*_folders(root, str(code))]
    found = settled(lambda: _watched(folders, patterns), str(project.cache))
    if found is None or not all(map(os.path.isabs, patterns)):
        return None
    watched, states = found
    digest = _digest(folders, patterns)
    if States(watched).text != states.text:
        return None
    places = [os.fsencode(project.cache), *([os.fsencode(shared_root())] if patterns else [])]
    fields = [identity(root, kind), digest, *places]
    keep(str(project.footing), formed(fields, watched, states))
    return Stamp(fields[1:], watched, states.text)


def settled(watched: Callable[[], Watched], folder: str) -> tuple[Watched, States] | None:
    """Paths and their states at a moment that is later than all their times; None where they do not come to rest.

    The moment is told by the file system of `folder` and by the clock. What changes a path after it shows in its times,
    even at the same size: git's rule for racy entries. Raises OSError, OverflowError.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        with tempfile.TemporaryFile(dir=folder) as probe:
            now = min(os.fstat(probe.fileno()).st_mtime_ns, time.time_ns())
        found = watched()
        states = States(found)
        if states.newest < now:
            return found, states
        if time.monotonic() > until:
            return None
        time.sleep(TICK_SECONDS)


def keep(path: str, content: bytes) -> None:
    """Put a stamp at `path`. Two that do so at once leave at worst a damaged one, which is none. Raises OSError."""
    with open(path + PART, "wb") as out:
        out.write(content)
    os.replace(path + PART, path)


def _folders(root: str, code: str) -> Iterator[str]:
    """Folders of code and rules."""
    yield from dict.fromkeys([os.path.dirname(programsmith.__file__), code])
    yield from dict.fromkeys([str(packaged_rules()), os.path.join(root, "rules")])


def _watched(folders: Sequence[str], patterns: Sequence[str]) -> Watched:
    paths = dict.fromkeys(path for folder in folders for path in _below(os.fsencode(folder)))
    for pattern in [interpreter(), *patterns] if patterns else []:
        paths |= dict.fromkeys(map(os.fsencode, _matched(pattern)))
    listed = [path for path in paths if os.path.isdir(path)]
    through = [path for path in paths if not os.path.isdir(path)]
    return Watched(through, [path for path in paths if os.path.islink(path)], listed)


def _digest(folders: Sequence[str], patterns: Sequence[str]) -> bytes:
    total = hashlib.sha256(host_digest(patterns).encode() if patterns else b"")
    for folder in folders:
        top = os.fsencode(folder)
        total.update(b"\n")
        for path in _below(top):
            name, at = path[len(top) :], _status(path)
            total.update(b"\n%d %s %o " % (len(name), name, stat.S_IFMT(at.st_mode) if at else 0))
            if os.path.islink(path):
                total.update(os.readlink(path))
            if at and stat.S_ISREG(at.st_mode):
                with open(path, "rb") as body:
                    total.update(hashlib.file_digest(body, "sha256").digest())
    return total.hexdigest().encode()


def _status(path: bytes) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _below(top: bytes) -> Iterator[bytes]:
    """`top` and all below it in name order, through links, but for what git and interpreters leave; no folder twice."""
    seen: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        path = waiting.pop()
        yield path
        at = _status(path)
        if at is None or not stat.S_ISDIR(at.st_mode) or (at.st_dev, at.st_ino) in seen:
            continue
        seen.add((at.st_dev, at.st_ino))
        waiting += [os.path.join(path, name) for name in sorted(set(os.listdir(path)) - LEFT_BEHIND, reverse=True)]


def _matched(pattern: str) -> Iterator[str]:
    """What decides which files an absolute pattern matches: folders that are searched, what they hold or lack."""
    heads = ["/"]
    for part in pattern.strip("/").split("/"):
        if MAGIC & set(part):
            yield from heads
            heads = [path for head in heads for path in glob.glob(os.path.join(glob.escape(head), part))]
        else:
            heads = [os.path.join(head, part) for head in heads]
    yield from heads
