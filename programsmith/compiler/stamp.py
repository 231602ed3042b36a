"""A stamp: an answer that holds as long as nothing that it depends on has changed, told by stat results alone.

In: a file that holds an answer and every path that it depends on, each with its times, size, inode and mode. Out: the
answer, None where a path differs in any of them or the file is damaged. stamping.py writes them, and never of paths so
young that a later change could leave all of these as they are. A stamp is a cache below the user's own cache/, trusted
as the databases there are. This imports little, for a build with nothing to do starts and ends with it.
"""

from __future__ import annotations

import os
import time
import zlib
from array import array
from collections.abc import Iterable

FORM = b"programsmith stamp 1 "
STAMP, FOOTING, PART = "stamp", ".footing", ".part"
PARTS = 5  # fields, three lists of paths, states
LEFT_BEHIND = frozenset({b".git", b"__pycache__"})
NEVER, NOTHING = (-1, -1), (0, 0, 0)
STARTED = time.time_ns()
"""When this process began to import. Code that lies there and is younger may be another than what runs."""


class Watched:
    """Paths that an answer depends on: `through` are read through links, `bare` are themselves, links or not.

    Of a folder that is `listed` only the names in it count, but for what git and interpreters leave.
    """

    __slots__ = ("bare", "listed", "through")

    def __init__(self, through: list[bytes], bare: list[bytes], listed: list[bytes]) -> None:
        self.through = through
        self.bare = bare
        self.listed = listed


class States:
    """What stat says of watched paths now: `text` is equal where nothing differs, `newest` the latest of all times.

    Raises OSError where a path cannot be looked at, OverflowError where a time is beyond all sense.
    """

    __slots__ = ("newest", "text")

    def __init__(self, watched: Watched) -> None:
        times, rest = array("q"), array("Q")
        for look, paths in ((os.stat, watched.through), (os.lstat, watched.bare)):
            for path in paths:
                try:
                    at = look(path)
                except (FileNotFoundError, NotADirectoryError):
                    times.extend(NEVER)
                    rest.extend(NOTHING)
                    continue
                times.extend((at.st_mtime_ns, at.st_ctime_ns))
                rest.extend((at.st_size, at.st_ino, at.st_mode))
        names = b"".join(map(_listing, watched.listed))
        self.text = times.tobytes() + rest.tobytes() + names
        self.newest = max(times, default=0)


def formed(fields: Iterable[bytes], watched: Watched, states: States) -> bytes:
    """The bytes of a stamp. No field and no path holds a NUL."""
    paths = (watched.through, watched.bare, watched.listed)
    parts = [b"\0".join(fields), *map(b"\0".join, paths), states.text]
    body = b"".join(parts)
    return FORM + b" ".join([b"%08x" % zlib.crc32(body), *(b"%d" % len(part) for part in parts)]) + b"\n" + body


class Stamp:
    """A stamp as it was written: its fields, what it watches, what stat said of that."""

    __slots__ = ("fields", "states", "watched")

    def __init__(self, fields: list[bytes], watched: Watched, states: bytes) -> None:
        self.fields = fields
        self.watched = watched
        self.states = states

    @property
    def holds(self) -> bool:
        """Whether every path is as it was."""
        try:
            return States(self.watched).text == self.states
        except (OSError, ValueError, OverflowError):
            return False


def stamp_at(path: str, expected: list[bytes]) -> Stamp | None:
    """The stamp at `path` without the fields expected first, None where there is no whole one that begins with them."""
    try:
        with open(path, "rb") as file:
            parts = _parts(file.read())
    except (OSError, ValueError):
        return None
    fields = parts[0].split(b"\0") if parts else []
    if parts is None or fields[: len(expected)] != expected:
        return None
    return Stamp(fields[len(expected) :], Watched(*map(_names, parts[1:-1])), parts[-1])


def _parts(content: bytes) -> list[bytes] | None:
    """Fields, paths and states as they were written. Raises ValueError where the first line is none of a stamp."""
    head, _, body = content.partition(b"\n")
    check, *lengths = head[len(FORM) :].split(b" ")
    sizes = [int(length) for length in lengths]
    whole = head.startswith(FORM) and check == b"%08x" % zlib.crc32(body) and len(sizes) == PARTS
    if not whole or sum(sizes) != len(body):
        return None
    ends = [sum(sizes[: n + 1]) for n in range(PARTS)]
    return [body[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _listing(path: bytes) -> bytes:
    """The names in a folder as one line, an empty one where there is none."""
    try:
        names = sorted(set(os.listdir(path)) - LEFT_BEHIND)
    except (FileNotFoundError, NotADirectoryError):
        return b"\n"
    return b"/".join([b"", *names, b"\n"])


def _names(text: bytes) -> list[bytes]:
    return text.split(b"\0") if text else []
