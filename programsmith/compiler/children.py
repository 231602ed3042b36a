"""Children side by side: one per spec, at most so many at a time.

In: what each is to do. Out: each one's last event; the others are shown as they come. An interrupt is passed on once;
who has not ended ten seconds later, or at a second interrupt, is killed with all that it started. A child that dies
without its last event is infra.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from programsmith.compiler.child import INTERRUPTS, start
from programsmith.compiler.events import Event, Kind, Tell, loads
from programsmith.compiler.leftovers import end_session
from programsmith.compiler.view import View
from programsmith.errors import Exit

GRACE_SECONDS = 10.0
TICK_SECONDS = 0.25
CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a child does, told where its events go; the log that takes whatever else it writes."""

    spec: str
    run: Callable[[Tell], Exit]
    log: Path


@dataclass(slots=True)
class Child:
    """A child that runs: what came of its events so far."""

    work: Work
    pid: int
    pipe: int
    text: bytes = b""
    end: Event | None = None
    status: int | None = field(default=None)


class Children:
    """Runs works; `ended` is told of each spec's last event, in the order in which they end."""

    def __init__(self, most: int, view: View, ended: Callable[[Event], None]) -> None:
        self._most = most
        self._view = view
        self._ended = ended
        self._running: dict[int, Child] = {}
        self._signals = 0
        self._deadline: float | None = None

    def run(self, works: Sequence[Work]) -> None:
        """Run all; after an interrupt no further one is started."""
        waiting = list(works)
        with _woken() as wake, selectors.DefaultSelector() as selector:
            selector.register(wake, selectors.EVENT_READ)
            try:
                while self._running or (waiting and not self._signals):
                    while waiting and not self._signals and len(self._running) < self._most:
                        self._begin(waiting.pop(0), selector)
                    for key, _ in selector.select(TICK_SECONDS):
                        self._hear(wake) if key.fd == wake else self._read(self._running[key.fd])
                    self._end_dead(selector)
                    self._kill_late()
                    self._view.tick()
            finally:
                for child in self._running.values():
                    end_session(child.pid)

    @property
    def interrupted(self) -> bool:
        """Whether a signal came."""
        return self._signals > 0

    def _begin(self, work: Work, selector: selectors.BaseSelector) -> None:
        pid, pipe = start(work.run, work.log)
        os.set_blocking(pipe, False)
        self._running[pipe] = Child(work, pid, pipe)
        selector.register(pipe, selectors.EVENT_READ)

    def _hear(self, wake: int) -> None:
        """Take in signals: pass the first interrupt on, let the second one kill."""
        for number in os.read(wake, CHUNK):
            if number in INTERRUPTS:
                self._signals += 1
                self._deadline = time.monotonic() + (GRACE_SECONDS if self._signals == 1 else 0)
                if self._signals == 1:
                    for child in self._running.values():
                        os.kill(child.pid, signal.SIGINT)  # not reaped yet, so the number is still its own

    def _read(self, child: Child) -> None:
        """Show what a child told. A line without an end waits for the rest."""
        while True:
            try:
                chunk = os.read(child.pipe, CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                return
            *lines, child.text = (child.text + chunk).split(b"\n")
            for event in filter(None, map(loads, lines)):
                child.end = event if event.kind is Kind.ENDED else child.end
                self._view.show(event)

    def _end_dead(self, selector: selectors.BaseSelector) -> None:
        for child in list(self._running.values()):
            # look first and take the status last: until then the number, which is the session's, is nobody else's
            if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            end_session(child.pid)
            _, status = os.waitpid(child.pid, 0)
            self._read(child)
            selector.unregister(child.pipe)
            os.close(child.pipe)
            del self._running[child.pipe]
            self._ended(child.end or self._lost(child, os.waitstatus_to_exitcode(status)))

    def _lost(self, child: Child, code: int) -> Event:
        spec = child.work.spec
        if self._signals:
            exit_code, text = Exit.INTERRUPTED, "interrupted: run the same command again to go on"
        else:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            exit_code, text = Exit.INFRA, f"infra: its process ended without an answer ({how}); run again to go on"
        self._view.show(Event(kind=Kind.SAID, spec=spec, text=text))
        return Event(kind=Kind.ENDED, spec=spec, exit=exit_code)

    def _kill_late(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            for child in self._running.values():
                end_session(child.pid)


@contextlib.contextmanager
def _woken() -> Iterator[int]:
    """A descriptor on which the numbers of signals come: interrupts, and the end of children."""

    def noted(number: int, frame: FrameType | None) -> None:
        del number, frame

    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    numbers = (*INTERRUPTS, signal.SIGCHLD)
    before = signal.set_wakeup_fd(writing)  # first: a signal that a handler swallows must have left its number
    former = {number: signal.signal(number, noted) for number in numbers}
    try:
        yield reading
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
