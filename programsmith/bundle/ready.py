"""Verifiers that have started already: a grading run is a fork of one, for a start takes longer than many a run.

In: the words of one run. Out: its exit code. A ready verifier is this installation's program, which has imported its
modules in an empty environment and has read nothing yet; it serves one run at a time. One that overran its time, or
was left in the middle of a run, is ended with all that it started; the others end with this process.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import IO, Any

from programsmith.bundle.zipapp import verify_pyz
from programsmith.payload.ready import serve
from programsmith.payload.verifier.host import is_readable

ENVIRONMENT: Mapping[str, str] = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
_idle: list[_Ready] = []
_lock = threading.Lock()


@cache
def program() -> bytes:
    """The program that a ready verifier has started."""
    return verify_pyz()


def run(words: Sequence[str], scratch: str, said: str, seconds: float) -> int | None:
    """The exit code of one grading run; None where its time was over. Raises OSError where the verifier is gone.

    `scratch` is its work folder, `said` the file that takes what it says.
    """
    one = _waiting() or _Ready()
    try:
        code = one.run({"words": list(words), "scratch": scratch, "said": said}, seconds)
    except BaseException:
        one.end()
        raise
    if code is None:
        one.end()
    else:
        with _lock:
            _idle.append(one)
    return code


def _waiting() -> _Ready | None:
    """One that waits for a run; those that somebody ended meanwhile are let go."""
    with _lock:
        while _idle:
            one = _idle.pop()
            if one.alive:
                return one
            one.end()
    return None


class _Ready:
    """One started verifier."""

    def __init__(self) -> None:
        held = os.memfd_create("verify.pyz")
        self._run = 0
        try:
            with open(held, "wb", closefd=False) as file:
                file.write(program())
            self._process = subprocess.Popen(
                [sys.executable, "-I", serve.__file__, f"/proc/self/fd/{held}"],
                env=ENVIRONMENT,
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                process_group=0,
                pass_fds=(held,),
            )
        finally:
            os.close(held)

    def run(self, request: Mapping[str, Any], seconds: float) -> int | None:
        """Like the module's `run`; what was begun and did not end is ended by `end`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
        self._run = _number(self._process.stdout)
        if not is_readable(self._process.stdout.fileno(), seconds):
            return None
        code = _number(self._process.stdout)
        self._run = 0
        return code

    @property
    def alive(self) -> bool:
        """Whether it could take a run."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it, and the run that is under way with all that it started."""
        for group in (self._run, self._process.pid):
            if group:
                _kill(group)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _number(pipe: IO[bytes]) -> int:
    line = b""
    while not line.endswith(b"\n"):
        byte = pipe.read(1)
        if not byte:
            raise ConnectionResetError("a ready verifier ended in the middle of a run")
        line += byte
    return int(line)


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


@atexit.register
def _end_all() -> None:
    while _idle:
        _idle.pop().end()
