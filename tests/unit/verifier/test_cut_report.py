"""What a launcher makes of a report that its init hands over, with an init that a test plays."""

from __future__ import annotations

import os
import struct
import threading
from typing import Any

import pytest

from programsmith.payload.verifier.host import Ends, pipes
from programsmith.payload.verifier.isolated import IsolatedLauncher, Launch
from programsmith.payload.verifier.launcher import Request
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.slots import Slots

LIMITS = Limits(
    cpu_seconds=1, wall_seconds=20, memory_bytes=1 << 20, pids=1, output_bytes=9, work_bytes=1000, work_files=1
)
VIEW = {"mounts": [], "links": [], "dirs": [], "executables": [], "fingerprint": ""}
FAULT = b"F" + struct.pack("<Q", 1) + b"x"


class Played:
    """An init that says `status`, and ends when it is told to."""

    def __init__(self, ours: Ends, status: int, said: bytes) -> None:
        self.stdin, self.stdout, self.stderr, self.status = ours
        self._writer = threading.Thread(target=self._say, args=(status, said))
        self._writer.start()

    @staticmethod
    def _say(status: int, said: bytes) -> None:
        with open(status, "wb", 0) as pipe:
            while said:
                said = said[pipe.write(said) :]

    def end(self, *, kill: bool, done: bool) -> str | None:
        del kill, done
        return None


class Playing(IsolatedLauncher):
    """A launcher of such an init."""

    name, hidden, marks = "played", "", False

    def __init__(self, said: bytes) -> None:
        super().__init__({"view": VIEW}, Slots(None, threads=False))
        self._said = said

    def _spawn(self, launch: Launch, request: int) -> Any:
        ours, theirs = pipes()
        for fd in theirs[:3]:
            os.close(fd)
        return Played(ours, theirs[3], self._said)


@pytest.mark.parametrize("shift", range(len(FAULT)))
def test_what_lies_behind_the_cut_of_a_report_is_no_report(shift: int) -> None:
    """The content of a file may look like anything, and a cut moves it to where records begin."""
    content = bytes(80_000 + shift) + FAULT * 12_000
    entry = struct.pack("<3Q", 0, 0o644, 1) + b"a" + content
    said = b"S" + bytes(8) + b"N" + struct.pack("<Q", 90_000) + entry
    result = Playing(said).run(Request(program="/x", argv=(b"x",), env=(), limits=LIMITS))
    assert (result.fault, "work" in result.limits_hit) == (None, True)
