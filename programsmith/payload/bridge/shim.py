"""The Python twin of shim.c. The kernel tells a script its own path alone, so a command gets that as its own name."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import socket
import sys
import termios

from programsmith.payload.bridge.common import (
    COMMANDS,
    END,
    HEAD,
    KILLED,
    MOST_BYTES,
    REFUSED,
    SIGNALS,
    STREAMS,
    end_by,
    say,
    watch_signals,
)

TYPE_CHECKING = False  # importing typing costs a tenth of a start
if TYPE_CHECKING:
    from typing import NoReturn

_OWN = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
        signal.SIGTRAP, signal.SIGPIPE}  # fmt: skip


def give_up(name: str, why: int) -> NoReturn:
    """Say what a shell says."""
    say(f"{name}: {os.strerror(why)}")
    os._exit(127 if why == errno.ENOENT else 126)


def open_streams() -> list[int]:
    """Standard streams that were open; the interpreter leaves the numbers of others free."""
    found = []
    for fd in range(STREAMS):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            os.open("/", os.O_PATH)
    return found


def leave_terminal(streams: list[int]) -> None:
    """A terminal has one session: leave it to the command, which then gets what is typed there."""
    if os.getsid(0) != os.getpid():
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for fd in streams:
        try:
            fcntl.ioctl(fd, termios.TIOCNOTTY)
            break
        except OSError:
            continue
    signal.signal(signal.SIGHUP, before)


def ask(server: socket.socket, streams: list[int], ignored: int) -> None:
    """Hand the command over."""
    words = [os.fsencode(word) for word in sys.argv]
    variables = [name + b"=" + value for name, value in os.environb.items()]
    try:
        folder = os.getcwdb()
    except OSError as error:
        give_up("current folder", error.errno or 0)
    strings = b"".join(text + b"\0" for text in (words[0], folder, *words, *variables))
    if len(strings) >= MOST_BYTES:
        give_up(sys.argv[0], errno.E2BIG)
    mask = os.umask(0)
    head = HEAD.pack(len(strings), len(words), len(variables), mask, sum(1 << fd for fd in streams), ignored)
    socket.send_fds(server, [head], streams)
    server.sendall(strings)


def main() -> int:
    """Have a command run."""
    streams = open_streams()
    ignored = [n for n in SIGNALS if signal.getsignal(n) == signal.SIG_IGN and n != signal.SIGPIPE]  # Python's own
    passed = [n for n in SIGNALS if n not in _OWN and n not in ignored]
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(COMMANDS)
    except OSError:
        give_up(sys.argv[0], errno.ENOTCONN)
    leave_terminal(streams)
    told = watch_signals(passed)
    ask(server, streams, sum(1 << n for n in ignored))
    while True:
        for ready in select.select([server.fileno(), told], [], [])[0]:
            if ready == told:
                server.send(os.read(told, 64))
                continue
            said = server.recv(END.size, socket.MSG_WAITALL)
            if len(said) < END.size:
                give_up(sys.argv[0], errno.EPIPE)
            kind, value = END.unpack(said)
            if kind == REFUSED:
                give_up(sys.argv[0], value)
            if kind == KILLED:
                end_by(value)
            os._exit(value)
