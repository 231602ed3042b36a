"""One spec's build as a process of its own, in a session of its own.

In: what to do. Out: its pid and the pipe on which its events come; the child writes them to descriptor 3, what else is
written goes to a log. It ends with its parent, however that ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from programsmith.compiler.events import Event, Tell, dumps
from programsmith.errors import Exit

EVENTS = 3
PR_SET_PDEATHSIG = 1
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


def start(work: Callable[[Tell], Exit], log: Path) -> tuple[int, int]:
    """Start `work` in a child. It is given what takes its events. Returns its pid and the pipe to read."""
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    reading, writing = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)  # until the child answers to them itself
    pid = os.fork()
    if not pid:
        os.close(reading)
        _be(work, writing, log, parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
    os.close(writing)
    return pid, reading


def _be(work: Callable[[Tell], Exit], writing: int, log: Path, parent: int) -> NoReturn:
    """The child's life."""
    try:
        _settle(writing, log, parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
        code = work(tell)
    except BaseException:  # noqa: BLE001 - nothing may return into the parent's code
        sys.excepthook(*sys.exc_info())
        code = Exit.INFRA
    leave(code)


def tell(event: Event) -> None:
    """Write an event. A parent that is gone hears nothing."""
    rest = dumps(event)
    while rest:
        rest = rest[os.write(EVENTS, rest) :]


def leave(code: int) -> NoReturn:
    """End now: blocks that still run in threads end with the process, and so do their children."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _settle(writing: int, log: Path, parent: int) -> None:
    """Be a process of its own: session, signals, descriptors."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        leave(Exit.INFRA)
    signal.set_wakeup_fd(-1)
    for number in INTERRUPTS:
        signal.signal(number, _interrupt)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if writing == EVENTS:
        os.set_inheritable(EVENTS, False)
    else:
        os.dup2(writing, EVENTS, inheritable=False)
        os.close(writing)
    log.parent.mkdir(parents=True, exist_ok=True)
    said, nothing = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.close(nothing)
    os.close(said)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def _interrupt(number: int, frame: FrameType | None) -> None:
    """The first signal interrupts; a second one changes nothing."""
    del frame
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
