"""A launch whose init is late: what the program did is judged by what the init says, whenever it gets to say it."""

from __future__ import annotations

import os
import threading

import pytest

from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.launcher import Request
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.slots import Slots

CONFIG = {"view": {"mounts": [], "links": [], "dirs": [], "executables": [], "fingerprint": ""}}
STARTED = b"S" + bytes(8)  # the record that the program started (payload/init/wire.h)
LIMITS = Limits(
    cpu_seconds=9, wall_seconds=20, memory_bytes=1 << 28, pids=9, output_bytes=100, work_bytes=1 << 20, work_files=9
)


class LateInit:
    """Floods stdout at once and says what it has to say later, as on a machine that lets the program run first."""

    def __init__(self, said: bytes) -> None:
        pipes = [os.pipe() for _ in range(4)]
        self.stdin, self._stdin = pipes[0][1], pipes[0][0]
        (self.stdout, self._stdout), (self.stderr, self._stderr), (self.status, self._status) = pipes[1:]
        os.write(self._stdout, b"y" * 1000)
        self._killed = threading.Event()
        self._late = threading.Thread(target=self._say, args=(said,))
        self._late.start()

    def _say(self, said: bytes) -> None:
        if not self._killed.wait(0.2):
            os.write(self._status, said)
        os.close(self._status)

    def end(self, *, kill: bool, done: bool) -> str | None:
        del done
        if kill:
            self._killed.set()
        self._late.join()
        for fd in (self._stdin, self._stdout, self._stderr):
            os.close(fd)
        return None


class LateLauncher(IsolatedLauncher):
    name, hidden, marks = "late", "", False

    def __init__(self, said: bytes) -> None:
        super().__init__(CONFIG, Slots(None, threads=False))
        self._said = said

    def _spawn(self, launch, request):
        del launch, request
        return LateInit(self._said)


@pytest.mark.parametrize(("said", "limits"), [(STARTED, {"output"}), (b"", None)])
def test_a_flood_before_the_word_that_the_program_started(said, limits):
    launcher = LateLauncher(said)
    result = launcher.run(Request(program="/p", argv=(b"p",), env=(), limits=LIMITS))
    launcher.close()
    assert (result.fault is None, result.limits_hit) == ((True, limits) if limits else (False, frozenset()))
