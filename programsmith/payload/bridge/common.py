"""What the Python twins of shim, server and relay share; the two wires are described in bridge.h."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import sys

TYPE_CHECKING = False  # importing typing costs a tenth of a start
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

COMMANDS, LINE = "/run/line/commands", "/run/line/line"
STREAMS, MOST_BYTES = 3, 8 << 20
EXITED, KILLED, REFUSED = 0, 1, 2
HEAD = struct.Struct("<6I")  # size, arguments, variables, umask, streams, ignored
END = struct.Struct("<2i")  # kind, value
SIGNALS = range(1, 32)
CHUNK = 1 << 16
_PR_SET_DUMPABLE = 4
libc = ctypes.CDLL(None, use_errno=True)


def fault(line: socket.socket, step: str, error: OSError) -> NoReturn:
    """A fault of ours: say which step failed and end."""
    line.send(f"F{step}: {error.strerror}".encode())
    os._exit(125)


def begin() -> socket.socket:
    """Close this process to others and connect to the line."""
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.connect(LINE)
    return line


def receive(end: socket.socket, size: int, flags: int = 0) -> tuple[bytes, list[int]]:
    """Like recv, with the descriptors that came along."""
    said, passed, _, _ = socket.recv_fds(end, size, STREAMS, flags)
    for fd in passed:
        os.set_inheritable(fd, False)
    return said, passed


def watch_signals(numbers: Iterable[int]) -> int:
    """A descriptor that tells of these signals, a byte each."""
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    return told


def end_by(number: int) -> NoReturn:
    """Die of a signal."""
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # a core would be this program's
    if number not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def say(text: str) -> None:
    """Write a line to stderr, where there is one."""
    if sys.stderr:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
