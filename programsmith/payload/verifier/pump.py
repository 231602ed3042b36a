"""Moves bytes between a launch and the launcher: stdin out; stdout, stderr and status in; limits while waiting.

In: a started process with its pipes. Out: a `Flow`. Nothing is read past a cap, and a closed stdin is no error.
"""

from __future__ import annotations

import contextlib
import os
import selectors
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

    `status` is -1 where a launch has no such pipe. `check` is asked every `period` seconds and names the
    limit that it sees passed; `begun` is called once, when the first status byte arrives.
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
    begun: Callable[[], None]
    period: float | None

    def run(self) -> Flow:
        """Move bytes until all incoming pipes are closed or a limit is passed."""
        flow = Flow()
        rest = memoryview(self.data)
        with contextlib.ExitStack() as stack:
            stack.callback(lambda: _close(self.stdin))
            stack.callback(_close, self.stdout)
            stack.callback(_close, self.stderr)
            os.set_blocking(self.stdin, False)
            select = stack.enter_context(selectors.DefaultSelector())
            sinks = {self.stdout: flow.stdout, self.stderr: flow.stderr}
            if self.status >= 0:
                sinks[self.status] = flow.status
            for fd in sinks:
                select.register(fd, selectors.EVENT_READ)
            rest = self._feed(select, rest)
            if rest:
                select.register(self.stdin, selectors.EVENT_WRITE)
            while any(fd in sinks for fd in select.get_map()) and not flow.over:
                for key, _ in select.select(self._patience()):
                    if key.fd == self.stdin:
                        rest = self._feed(select, rest)
                    else:
                        self._drain(select, key.fd, sinks[key.fd], flow)
                self._judge(flow)
        return flow

    def _judge(self, flow: Flow) -> None:
        if flow.over is None:
            flow.over = "wall" if time.monotonic() >= self.deadline else self.check()

    def _patience(self) -> float:
        left = max(self.deadline - time.monotonic(), 0)
        return left if self.period is None else min(left, self.period)

    def _feed(self, select: selectors.BaseSelector, rest: memoryview) -> memoryview:
        """Write what the pipe takes; close it after the last byte or when nobody reads any more."""
        while rest:
            try:
                rest = rest[os.write(self.stdin, rest[:_CHUNK]) :]
            except BlockingIOError:
                return rest
            except BrokenPipeError:
                break
        if self.stdin in select.get_map():
            select.unregister(self.stdin)
        _close(self.stdin)
        self.stdin = -1
        return memoryview(b"")

    def _drain(self, select: selectors.BaseSelector, fd: int, sink: bytearray, flow: Flow) -> None:
        part = os.read(fd, _CHUNK)
        if not part:
            select.unregister(fd)
            return
        if fd == self.status:
            if not sink:
                self.begun()
            cap, word = self.status_cap, "status"
        else:
            cap, word = self.output_cap, "output"
        sink += part
        if len(sink) > cap:
            del sink[cap:]
            flow.over = word


def _close(fd: int) -> None:
    with contextlib.suppress(OSError):
        os.close(fd)
