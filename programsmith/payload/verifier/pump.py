"""Moves bytes between a launch and the launcher: stdin out; stdout, stderr and status in; limits while waiting.

In: a started process with its pipes. Out: a `Flow`. Nothing is read past a cap, and a closed stdin is no error.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_CHUNK = 1 << 16


@dataclass(slots=True, kw_only=True)
class Flow:
    """What came out. `over` names the limit that made the pump stop: `wall`, `output`, `status` or the check's word."""

    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    status: bytearray = field(default_factory=bytearray)
    over: str | None = None


@dataclass(slots=True, kw_only=True)
class Pump:
    """One launch's pipes, caps in bytes, deadline on the monotonic clock. All pipes but `status` are closed here.

    `status` is -1 where a launch has no such pipe. `check` is asked every `period` seconds and names the limit that it
    sees passed; `begun` is called once, when the first status byte arrives. Without `begun` the status pipe is looked
    at only when both streams are closed, which wakes the launcher up less often. `is_whole` says of the status bytes
    that no more of them will come, which is known before the pipe is closed.
    """

    stdin: int
    stdout: int
    stderr: int
    status: int
    data: bytes
    output_cap: int
    status_cap: int
    deadline: float
    check: Callable[[], str | None]
    begun: Callable[[], None] | None
    period: float | None
    is_whole: Callable[[bytearray], bool] = lambda _: False
    _flow: Flow = field(init=False, default_factory=Flow)
    _rest: memoryview = field(init=False, default=memoryview(b""))
    _poll: select.poll = field(init=False, default_factory=select.poll)
    _sinks: dict[int, bytearray] = field(init=False, default_factory=dict)  # pipes that are read now
    _next_check: float = field(init=False, default=0.0)

    def run(self) -> Flow:
        """Move bytes until all incoming pipes are closed or a limit is passed."""
        flow, self._rest = self._flow, memoryview(self.data)
        self._next_check = time.monotonic() + (self.period or 0.0)
        status = {self.status: flow.status} if self.status >= 0 else {}
        streams = {self.stdout: flow.stdout, self.stderr: flow.stderr}
        try:
            self._feed()
            if self.stdin >= 0:
                self._poll.register(self.stdin, select.POLLOUT)
            if self.status >= 0:
                self._poll.register(self.status, 0)  # tells of its closed other end all the same
            for sinks in ({**streams, **status},) if self.begun else (streams, status):
                self._read(sinks)
        finally:
            for fd in (self.stdin, self.stdout, self.stderr):
                _close(fd)
        return flow

    def _read(self, sinks: dict[int, bytearray]) -> None:
        """Read pipes until all of them are closed, or nobody is left to report, or a limit is passed."""
        self._sinks = sinks
        for fd in sinks:
            self._poll.register(fd, select.POLLIN)
        self._move_all()
        for fd in sinks:  # a dead process's pipes close in any order: what is open here is not read later
            self._poll.unregister(fd)

    def _move_all(self) -> None:
        sinks = self._sinks
        while sinks and self._flow.over is None:
            ready = self._poll.poll(self._patience())
            if len(ready) == 1 and ready[0][0] == self.status and self.status not in sinks:
                return
            for fd, events in ready:
                self._move(fd, ended=bool(events & select.POLLHUP))
            self._judge()

    def _move(self, fd: int, *, ended: bool) -> None:
        """Move what a pipe has; all of it where nobody is left at its other end."""
        if fd == self.status and fd not in self._sinks:
            return
        if fd == self.stdin:
            self._feed()
            if self.stdin < 0:
                self._poll.unregister(fd)
            return
        is_open = self._drain(fd, self._sinks[fd])
        while is_open and ended and self._flow.over is None:
            is_open = self._drain(fd, self._sinks[fd])
        if not is_open:
            self._poll.unregister(fd)
            del self._sinks[fd]

    def _judge(self) -> None:
        now = time.monotonic()
        if self._flow.over is not None:
            return
        if now >= self.deadline:
            self._flow.over = "wall"
        elif self.period is not None and now >= self._next_check:
            self._next_check = now + self.period
            self._flow.over = self.check()

    def _patience(self) -> int:
        """Milliseconds until there is something to judge."""
        left = max(self.deadline - time.monotonic(), 0)
        return math.ceil(1000 * (left if self.period is None else min(left, self.period)))

    def _feed(self) -> None:
        """Write what the pipe takes; close it after the last byte or when nobody reads any more."""
        if self._rest:
            os.set_blocking(self.stdin, False)
        while self._rest:
            try:
                self._rest = self._rest[os.write(self.stdin, self._rest[:_CHUNK]) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                break
        _close(self.stdin)
        self.stdin = -1

    def _drain(self, fd: int, sink: bytearray) -> bool:
        """Read what a pipe has; whether it is still open."""
        part = os.read(fd, _CHUNK)
        if fd == self.status and part and not sink and self.begun:
            self.begun()
        sink += part
        cap, word = (self.status_cap, "status") if fd == self.status else (self.output_cap, "output")
        if len(sink) > cap:
            del sink[cap:]
            self._flow.over = word
        return bool(part) and not (fd == self.status and self.is_whole(sink))


def _close(fd: int) -> None:
    if fd >= 0:
        with contextlib.suppress(OSError):
            os.close(fd)
