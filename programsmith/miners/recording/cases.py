"""One recorded call goes in, one case comes out: its input alone, laid out in a work folder of its own.

The fixture is what the program was seen to open, list or ask for, as it was before it did. Refuses by a counted word
what cannot be had in isolation. What the program answered is only kept to be compared with the oracle's answer.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from programsmith.miners.base import MineLimits, Skip
from programsmith.miners.recording import log
from programsmith.miners.recording.log import Call, Note
from programsmith.miners.recording.paths import Places, Roots, mentioned, places_of
from programsmith.miners.recording.stand_in import stand_in
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.payload.verifier.wire import check_paths
from programsmith.records.golden import Recorded

WORDS = frozenset(
    {"tty", "fixture_too_large", "untraceable", "stdin_too_large", "output_too_large", "stdin_open", "leaves_process"}
)
_OWN_VARIABLES = frozenset(
    {b"PATH", b"PWD", b"OLDPWD", b"SHLVL", b"_", b"TMPDIR", b"TEMP", b"TMP", b"USER", b"LOGNAME"}
)
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What a call is read against: the folders and the environment that its suite started with.

    `names` are the variables that can matter to the program.
    """

    roots: Roots
    env: Mapping[bytes, bytes]
    names: frozenset[bytes]
    limits: MineLimits


def case_of(call: Call, suite: Suite) -> tuple[Case, Recorded]:
    """The case that a call is, and what the program answered. Raises Skip."""
    for word in sorted(call.words):
        raise Skip(word if word in WORDS else "odd_log")
    if _is_odd(call):
        raise Skip("odd_log")
    if not os.WIFEXITED(call.status):
        raise Skip("signal")
    known = _first_looks(call.notes)
    texts = [*call.argv, call.stdin, *(v for k, v in call.env.items() if _matters(k, v, suite))]
    order = mentioned(texts, suite.roots)
    named = [p for p in order if p not in known]
    folders = [p for p, n in known.items() if n.kind == log.FOLDER] + [p for p in named if _holds(p, known)]
    files = [p for p, n in known.items() if n.kind != log.FOLDER] + [p for p in named if not _holds(p, known)]
    places = places_of(call.cwd, suite.roots, folders, files, order)
    case = Case(
        argv=tuple(_moved(word, places, suite.roots) for word in call.argv),
        stdin=_moved(call.stdin, places, suite.roots),
        env=tuple(sorted(_env(call, places, suite))),
        files=_fixture(known, places, suite),
    )
    answer = places.shown(call.stdout)
    return case, Recorded(stdout=answer, exit_code=os.WEXITSTATUS(call.status), match="exact", binding=True)


def _is_odd(call: Call) -> bool:
    """Whether no process could have been started so."""
    texts = (*call.argv, *call.env.values(), *(n.content for n in call.notes if n.kind == log.LINK))
    return any(b"\0" in text for text in texts) or posixpath.normpath(call.cwd) != call.cwd


def _first_looks(notes: Iterable[Note]) -> dict[bytes, Note]:
    """The state of each path before the program changed it. A name in a listing counts where nothing else was seen."""
    used: dict[bytes, Note] = {}
    listed: dict[bytes, Note] = {}
    for note in notes:
        path = posixpath.normpath(note.path)
        if not path.startswith(b"/") or b"\0" in path or path.startswith(b"//"):
            raise Skip("odd_log")
        (listed if note.how == log.LISTED else used).setdefault(path, note)
    return listed | used


def _holds(path: bytes, known: Iterable[bytes]) -> bool:
    return any(k.startswith(path + b"/") for k in known)


def _moved(text: bytes, places: Places, roots: Roots) -> bytes:
    """`text` in the words of the work folder. Raises Skip `absolute_path` where a path of the suite is left."""
    moved = places.rewritten(text)
    if roots.stay_in(moved):
        raise Skip("absolute_path")
    return moved


def _matters(name: bytes, value: bytes, suite: Suite) -> bool:
    changed = suite.env.get(name) != value
    return changed and name not in _OWN_VARIABLES and name in suite.names and _NAME.fullmatch(name) is not None


def _env(call: Call, places: Places, suite: Suite) -> Iterable[tuple[bytes, bytes]]:
    """Variables that the test set and that the program knows. A home that is the work folder is so anyway."""
    for name, value in call.env.items():
        if _matters(name, value, suite):
            moved = _moved(value, places, suite.roots)
            if not (name == b"HOME" and moved == b"."):
                yield name, moved


def _fixture(known: Mapping[bytes, Note], places: Places, suite: Suite) -> tuple[FileEntry, ...]:
    """The files of the case. Raises Skip."""
    found: dict[bytes, FileEntry] = {}
    for path, note in sorted(known.items()):
        at = places.relative(path)
        if at is None or note.kind == log.ABSENT or not at:
            continue
        entry = _entry(path, note, at, places, suite.roots)
        if at in found and found[at] != entry:
            raise Skip("two_folders")
        found[at] = entry
    files = tuple(sorted(found.values()))
    limits = suite.limits
    if len(files) > limits.fixture_files or sum(len(f.content) for f in files) > limits.fixture_bytes:
        raise Skip("fixture_too_large")
    try:
        check_paths(files)
    except ValueError:
        raise Skip("odd_path") from None
    return files


def _entry(path: bytes, note: Note, at: bytes, places: Places, roots: Roots) -> FileEntry:
    mode = (0o755 if note.mode & 0o100 else 0o644) & (0o777 if note.mode & 0o200 else 0o555)
    if note.kind == log.FOLDER:
        return FileEntry(at, "dir", 0o755)
    if note.kind == log.LINK:
        return FileEntry(at, "link", 0o777, _target(path, note.content, at, places))
    if note.kind == log.SPECIAL:
        raise Skip("special_file")
    if note.kind == log.LARGE:
        raise Skip("fixture_too_large")
    if note.content == stand_in():
        raise Skip("copies_program")
    if roots.stay_in(note.content):
        raise Skip("absolute_path")
    return FileEntry(at, "file", mode, note.content)


def _target(path: bytes, target: bytes, at: bytes, places: Places) -> bytes:
    """A link's target seen from where the link lies in the case. Raises Skip where it leads out."""
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    to = places.relative(whole)
    if to is None or not target:
        raise Skip("outside_link")
    return posixpath.relpath(b"/" + to, b"/" + posixpath.dirname(at))
