"""How much writable places hold, where no file system of their own bounds them.

In: folders that a program writes to meanwhile, limits. Out: whether all of them together hold more. Measured by
descriptor, never through a link, at any depth: one descriptor per level. What cannot be entered is not counted.
"""

from __future__ import annotations

import os
import time
from errno import EMFILE

from programsmith.payload.init.calls import FOLDER

TYPE_CHECKING = False  # importing typing costs a tenth of a launch
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BLOCK = 512  # bytes, of st_blocks
SHARE = 20  # a look is followed by so many times its own length without one
SECONDS = 1.0  # and by no less than this


class Room:
    """The places, and when they were last looked at. With an `owner` only what is that user's counts."""

    def __init__(self, places: Sequence[str], most_bytes: int, most_files: int, owner: int | None = None) -> None:
        self._places = places
        self._owner = owner
        self._bytes, self._files = most_bytes, most_files
        self._next = 0.0
        self._over = False

    def outgrown(self, now: bool) -> bool:  # noqa: FBT001 - a look that cannot wait
        """Whether the places hold more; the last answer where they were looked at lately, unless `now`."""
        begun = time.monotonic()
        if not self._over and (now or begun >= self._next):
            self._over = self._look()
            ended = time.monotonic()
            self._next = ended + max(SECONDS, SHARE * (ended - begun))
        return self._over

    def _look(self) -> bool:
        files = size = 0
        try:
            for place in self._places:
                for item in walk(place, self._counts):
                    files += 1
                    size += self._size(item)
                    if files > self._files or size > self._bytes:
                        return True
        except OSError as error:
            return error.errno == EMFILE  # deeper than a tree of this many entries may be
        return False

    def _counts(self, item: os.DirEntry[str]) -> bool:
        if self._owner is None:
            return True
        try:
            return item.stat(follow_symlinks=False).st_uid == self._owner
        except OSError:
            return False

    @staticmethod
    def _size(item: os.DirEntry[str]) -> int:
        try:
            return item.stat(follow_symlinks=False).st_blocks * BLOCK
        except OSError:
            return 0


def walk(place: str, counts: Callable[[os.DirEntry[str]], bool]) -> Iterator[os.DirEntry[str]]:
    """Every entry below `place` that counts, which may change meanwhile. Raises OSError for want of descriptors."""
    levels: list[tuple[int, Iterator[os.DirEntry[str]]]] = []
    try:
        enter(levels, place, None)
        while levels:
            at, items = levels[-1]
            item = next(items, None)
            if item is None:
                os.close(levels.pop()[0])
                continue
            if not counts(item):
                continue
            yield item
            if item.is_dir(follow_symlinks=False):
                enter(levels, item.name, at)
    finally:
        for at, _ in levels:
            os.close(at)


def enter(levels: list[tuple[int, Iterator[os.DirEntry[str]]]], name: str, at: int | None) -> None:
    """Open a folder and list it; one that vanished or is shut is passed over."""
    try:
        fd = os.open(name, FOLDER, dir_fd=at)
    except OSError as error:
        if error.errno == EMFILE:
            raise
        return
    with os.scandir(fd) as items:
        levels.append((fd, iter(list(items))))
