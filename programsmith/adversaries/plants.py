"""What an adversary leaves in its submission's folder that no archive of plain files could hold.

In: the folder on the host, the host's file with answers. Out: fifos, sockets, hostile names, sparse files, trees. All
of it goes with the folder.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from programsmith.adversaries.registry import Plant

HOSTILE = (b"\xff\xfe\n", b"a" * 255, b"\x1b[2J\x1b]0;x\x07", b"<script>x<!--", b"-rf", b"\xe2\x80\xae.")
SPARSE_BYTES, FILES, LEVELS = 1 << 22, 96, 24  # of which a row allows less


def plant(kinds: Iterable[Plant], folder: Path, answers: Path) -> None:
    """Make them in `folder`. Raises OSError."""
    for kind in kinds:
        KINDS[kind](folder, answers)


def _specials(folder: Path, answers: Path) -> None:  # noqa: ARG001 - all kinds have the same form
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as one:
        here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            one.bind(f"/proc/self/fd/{here}/socket")  # a path of a socket is short
        finally:
            os.close(here)


def _names(folder: Path, answers: Path) -> None:  # noqa: ARG001
    for name in HOSTILE:
        os.symlink(b"nowhere", os.fsencode(folder) + b"/" + name)  # of what is left out, links alone enter a container


def _sparse(folder: Path, answers: Path) -> None:  # noqa: ARG001
    (folder / "sparse").touch()
    os.truncate(folder / "sparse", SPARSE_BYTES)


def _many(folder: Path, answers: Path) -> None:  # noqa: ARG001
    for number in range(FILES):
        (folder / f"n{number}").touch()


def _deep(folder: Path, answers: Path) -> None:  # noqa: ARG001
    folder.joinpath(*["d"] * LEVELS).mkdir(parents=True)


def _hard_link(folder: Path, answers: Path) -> None:
    os.link(answers, folder / "table.txt")


KINDS: Mapping[Plant, Callable[[Path, Path], None]] = {
    Plant.SPECIALS: _specials,
    Plant.NAMES: _names,
    Plant.SPARSE: _sparse,
    Plant.MANY: _many,
    Plant.DEEP: _deep,
    Plant.HARD_LINK: _hard_link,
}
