"""The Python twin of serve.c: same arguments, same wires."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import selectors
import signal
import socket
import stat
import struct
import sys
import termios
from fnmatch import fnmatchcase

from programsmith.payload.bridge.common import (
    CHUNK,
    END,
    EXITED,
    HEAD,
    KILLED,
    MOST_BYTES,
    REFUSED,
    SIGNALS,
    STREAMS,
    begin,
    receive,
    watch_signals,
)

KEPT = 32
"""Descriptors that are this process's own, or a command's while it starts."""


class Refused(Exception):  # noqa: N818 - an end, not an error
    """What was asked for cannot be done; its argument is an errno."""


class Session:
    """One shim: what it asks for, and the command that runs for it (0 before)."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.head: tuple[int, ...] = ()
        self.passed: list[int] = []
        self.strings = bytearray()
        self.command = 0

    def hear(self, patterns: list[str]) -> bool:
        """Take what the shim sends; whether the session goes on. Raises Refused."""
        if self.command:
            for number in self.end.recv(64) or b"\x09":  # a shim that is gone was killed
                signal_group(self.command, number)
                if number == signal.SIGKILL:
                    return False
            return True
        if not self.head:
            return self._begin()
        part = self.end.recv(min(CHUNK, self.head[0] - len(self.strings)))
        self.strings += part
        if len(self.strings) == self.head[0]:
            self.command = self._start(patterns)
        return bool(part)

    def _begin(self) -> bool:
        said, self.passed = receive(self.end, HEAD.size)
        if len(said) < HEAD.size:
            return False
        self.head = HEAD.unpack(said)
        size, arguments, variables, _, streams, _ = self.head
        return arguments + variables + 2 <= size <= MOST_BYTES and streams.bit_count() == len(self.passed)

    def _start(self, patterns: list[str]) -> int:
        _, arguments, variables, *_ = self.head
        strings = bytes(self.strings).split(b"\0")[:-1]
        if len(strings) != arguments + variables + 2 or self.strings[-1]:
            raise Refused(errno.EBADMSG)
        if not all(map(may_pass, self.passed)):
            raise Refused(errno.EACCES)
        env = dict(v.partition(b"=")[::2] for v in strings[arguments + 2 :])
        kept = {n: v for n, v in env.items() if not any(fnmatchcase(os.fsdecode(n), p) for p in patterns)}
        pid = self._run(strings[0], strings[1], strings[2 : arguments + 2], kept)
        for fd in self.passed:
            os.close(fd)
        self.passed = []
        return pid

    def _run(self, path: bytes, folder: bytes, words: list[bytes], env: dict[bytes, bytes]) -> int:
        """Start the command. Raises Refused."""
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self._become(folder)
                os.execve(path, words, env)  # noqa: S606 - starting it is what this is for
            except OSError as error:
                os.write(tell, struct.pack("<i", error.errno or 0))
            os._exit(127)
        os.close(tell)
        why = os.read(told, 4)
        os.close(told)
        if why:
            os.waitpid(pid, 0)
            raise Refused(struct.unpack("<i", why)[0])
        return pid

    def _become(self, folder: bytes) -> None:
        *_, mask, streams, ignored = self.head
        os.setsid()
        given = iter(self.passed)
        for fd in range(STREAMS):
            if streams & 1 << fd:
                os.dup2(next(given), fd)
            else:
                os.close(fd)
        take_terminal()
        for number in set(SIGNALS) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN if ignored & 1 << number else signal.SIG_DFL)
        os.umask(mask & 0o777)
        os.chdir(folder)

    def tell(self, kind: int, value: int) -> None:
        """Tell the end, to a shim that may be gone."""
        try:
            self.end.send(END.pack(kind, value), socket.MSG_NOSIGNAL)
        except OSError:
            return

    def close(self) -> None:
        """Forget it."""
        for fd in self.passed:
            os.close(fd)
        self.end.close()


def take_terminal() -> None:
    """Make the first stream that is a terminal the session's own."""
    for fd in range(STREAMS):
        try:
            fcntl.ioctl(fd, termios.TIOCSCTTY, 0)
        except OSError:
            continue
        return


def signal_group(command: int, number: int) -> None:
    """Signal all of a command."""
    try:
        os.killpg(command, number)
    except OSError:
        return


def may_pass(stream: int) -> bool:
    """Neither a directory nor an internet socket."""
    mode = os.fstat(stream).st_mode
    if not stat.S_ISSOCK(mode):
        return not stat.S_ISDIR(mode)
    with socket.socket(fileno=os.dup(stream)) as one:
        return one.family == socket.AF_UNIX


class Server:
    """All sessions."""

    def __init__(self, line: socket.socket, listener: socket.socket, patterns: list[str]) -> None:
        self._patterns = patterns
        self._sessions: set[Session] = set()
        self._watch = selectors.DefaultSelector()
        self._signals = watch_signals([signal.SIGCHLD])
        for end, what in ((line, None), (listener, self._admit), (self._signals, self._reap)):
            self._watch.register(end, selectors.EVENT_READ, what)
        self._listener = listener
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = max(8, (files - KEPT) // (STREAMS + 1)) if files != resource.RLIM_INFINITY else files
        self._admits = True

    def serve(self) -> None:
        """Serve until the line ends."""
        while True:
            self._wait_for_room()
            for key, _ in self._watch.select():
                if key.data is None:
                    return
                if not isinstance(key.data, Session):
                    key.data()
                elif key.data in self._sessions:
                    self._hear(key.data)

    def _wait_for_room(self) -> None:
        """Let shims wait while this process has descriptors for no more commands."""
        admits = self._most < 0 or len(self._sessions) < self._most
        if admits and not self._admits:
            self._watch.register(self._listener, selectors.EVENT_READ, self._admit)
        elif self._admits and not admits:
            self._watch.unregister(self._listener)
        self._admits = admits

    def _admit(self) -> None:
        try:
            session = Session(self._listener.accept()[0])
        except OSError:  # it went away, or there is no descriptor: whoever ends leaves one
            return
        self._sessions.add(session)
        self._watch.register(session.end, selectors.EVENT_READ, session)

    def _hear(self, session: Session) -> None:
        try:
            goes_on = session.hear(self._patterns)
        except Refused as refused:
            session.tell(REFUSED, refused.args[0])
            goes_on = False
        except OSError:
            goes_on = False
        if not goes_on:
            self._forget(session)

    def _forget(self, session: Session) -> None:
        self._sessions.discard(session)
        self._watch.unregister(session.end)
        session.close()

    def _reap(self) -> None:
        os.read(self._signals, 64)
        while True:
            try:
                pid, ended = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            for session in [s for s in self._sessions if s.command == pid]:
                code = os.waitstatus_to_exitcode(ended)
                session.tell(*((KILLED, -code) if code < 0 else (EXITED, code)))
                self._forget(session)


def tell_names(folders: list[str]) -> int:
    """What commands there are."""
    for folder in filter(os.path.isdir, map(os.path.realpath, folders)):
        names = [n for n in os.listdir(folder) if os.path.isfile(p := f"{folder}/{n}") and os.access(p, os.X_OK)]
        sys.stdout.buffer.write(b"".join(os.fsencode(text) + b"\0" for text in (folder, *names)) + b"\0")
    return 0


def main() -> int:
    """Serve, or tell the names."""
    if sys.argv[1:2] == ["names"]:
        return tell_names(sys.argv[2:])
    line = begin()
    _, passed = receive(line, 1)
    server = Server(line, socket.socket(fileno=passed[0]), sys.argv[1:])
    line.send(b"R")
    server.serve()
    return 0
