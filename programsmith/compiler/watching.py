"""Every path that the answer `up to date` of a spec depends on, cause by cause.

In: the compiler and a compiled spec. Out: paths that are read through links, and paths that are themselves. Rules, code
and host are the footing of all specs (footing.py) and are not among them. `KNOWN` says which causes these paths and the
footing stand for; a turn with any other has no stamp.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from programsmith.bundle.dataset import COMPLETE, SHELVES
from programsmith.compiler.compile import Compiler
from programsmith.compiler.paths import Folder
from programsmith.compiler.slices import ANSWERS, NEED, answers
from programsmith.compiler.stamp import LEFT_BEHIND, Watched
from programsmith.compiler.turn import Subject, Turn
from programsmith.compiler.walk import ONE
from programsmith.spec.checks import pairs

KNOWN = re.compile(
    r"spec\.\S+|rules/\S+|payload/\S+|code|host|owner secret|source\.(path|archive)"
    r"|trial|trials|" + NEED + r"|agent (script|folder)|record \S+|" + ANSWERS + r"\S+|" + ONE + r"\S+ of \S+"
)
"""Names of causes, beside the artifacts that a turn reads."""
BESIDES = (
    *(".doit.db", ".doit.db-journal", ".doit.db-wal"),
    *("approved.json", "proven.json", "pushed.json", "verdict.json"),
)


def unwatched(turn: Turn, causes: Collection[str]) -> list[str]:
    """Causes of a turn that no path stands for."""
    return [name for name in causes if name not in turn.reads and not KNOWN.fullmatch(name)]


def watched(compiler: Compiler, subject: Subject) -> Watched:
    """The paths that the spec depends on now. Raises OSError."""
    through = dict.fromkeys(_through(subject))
    tops = dict.fromkeys(_tops(compiler, subject))
    return Watched(list(through), [path for top in tops for path in _tree(top)], [])


def _through(subject: Subject) -> Iterator[bytes]:
    folder = subject.folder
    yield from map(os.fsencode, (*subject.files, folder.project.root / "specs" / f"{folder.name}.yaml"))
    yield from (os.fsencode(folder.root / name) for name in BESIDES)
    yield from (os.fsencode(place / COMPLETE) for place in _places(folder))
    for _, pair in pairs(subject.values):
        if pair.get("script"):
            yield _inside(subject, pair["script"])
    if subject.values["source"]["archive"]:
        yield _inside(subject, subject.values["source"]["archive"])


def _tops(compiler: Compiler, subject: Subject) -> Iterator[bytes]:
    """Files and folders whose content counts, links as links."""
    folder = subject.folder
    yield os.fsencode(folder.run)
    yield from (os.fsencode(place) for place in _places(folder))
    for _, pair in pairs(subject.values):
        if pair.get("script"):
            yield _inside(subject, os.path.dirname(pair["script"])) + b"/"
        if pair.get("folder"):
            yield _inside(subject, pair["folder"]) + b"/"
    if subject.values["source"]["path"]:
        yield _inside(subject, subject.values["source"]["path"]) + b"/"
    for step in compiler.steps:
        yield from (os.fsencode(path) for _, path in answers(step, subject.values, folder.project.root))
    for turn in compiler.view(subject):
        reads = [folder.artifact(name, turn.spot) for name in turn.step.reads]
        yield from map(os.fsencode, (turn.record, *turn.outputs.values(), *reads))


def _places(folder: Folder) -> list[Path]:
    """Where a bundle of the spec may lie."""
    return [folder.project.dist / shelf / folder.name for shelf in SHELVES]


def _inside(subject: Subject, name: str) -> bytes:
    return os.fsencode(os.path.join(subject.folder.project.root, name))


def _tree(top: bytes) -> Iterator[bytes]:
    """`top` and all below it but for what git and interpreters leave. Only a `top` that ends in a slash is followed."""
    waiting = [top]
    while waiting:
        path = waiting.pop()
        yield path
        try:
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            continue
        if is_folder:
            waiting += [os.path.join(path, name) for name in set(os.listdir(path)) - LEFT_BEHIND]
