"""The Python twin of relay.c: same arguments, same line."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import sys

from programsmith.payload.bridge.common import CHUNK, begin, end_by, fault, receive, say, watch_signals
from programsmith.payload.bridge.watch import Watch, socket_of, watch

TYPE_CHECKING = False  # importing typing costs a tenth of a start
if TYPE_CHECKING:
    from typing import NoReturn

MOST_PAIRS = 128
_LEFT = 143  # exit code where the line ends first
_FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 15\r\nconnection: close\r\n\r\nnot the agent.\n"
_NO_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 11\r\nconnection: close\r\n\r\nno gateway\n"


class Way:
    """One direction of a connection: what was read and not yet written."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self.source, self.target = source, target
        self.rest = b""
        self.ended = False
        self.over = False

    def move(self) -> None:
        """Move bytes as far as both sides go along. Raises OSError where it is broken."""
        with contextlib.suppress(BlockingIOError, InterruptedError):
            if not self.rest and not self.ended:
                self.rest = self.source.recv(CHUNK)
                self.ended = not self.rest
        with contextlib.suppress(BlockingIOError, InterruptedError):
            if self.rest:
                self.rest = self.rest[self.target.send(self.rest) :]
        if self.ended and not self.rest and not self.over:
            self.target.shutdown(socket.SHUT_WR)
            self.over = True


class Relay:
    """All connections of the agent."""

    def __init__(self, line: socket.socket, listener: socket.socket, seen: Watch) -> None:
        self._line, self._listener, self._seen = line, listener, seen
        seen.told = self._tell_refusal
        self._pairs: list[tuple[Way, Way]] = []

    def admit(self) -> None:
        """Let a connection in, or not."""
        try:
            agent, (_, port) = self._listener.accept()
        except OSError:
            return
        agent.setblocking(False)
        if not self._seen.was_given(socket_of(port, self._listener.getsockname()[1])):
            self._tell_refusal()
            refuse(agent, _FORBIDDEN)
            return
        on = self._way_on() if len(self._pairs) < MOST_PAIRS else None
        if on is None:
            refuse(agent, _NO_GATEWAY)
            return
        on.setblocking(False)
        self._pairs.append((Way(agent, on), Way(on, agent)))

    def _tell_refusal(self) -> None:
        """Tell that somebody else wants to go where the agent goes; a reader that is slow misses some."""
        with contextlib.suppress(OSError):
            self._line.send(b"X", socket.MSG_DONTWAIT)

    def _way_on(self) -> socket.socket | None:
        self._line.send(b"C")
        said, passed = receive(self._line, 1)
        if not said:
            os._exit(_LEFT)
        return socket.socket(fileno=passed[0]) if passed else None

    def move(self) -> None:
        """Move bytes on all connections; forget those that are over."""
        for pair in list(self._pairs):
            try:
                for way in pair:
                    way.move()
                over = all(way.over for way in pair)
            except OSError:
                over = True
            if over:
                self._pairs.remove(pair)
                for way in pair:
                    way.source.close()

    def await_events(self, own: list[int]) -> list[int]:
        """Wait; which of `own` have something to tell."""
        poll = select.poll()
        for fd in own:
            poll.register(fd, select.POLLIN)
        wanted: dict[socket.socket, int] = {}
        for way in (way for pair in self._pairs for way in pair):
            wanted[way.source] = wanted.get(way.source, 0) | (0 if way.rest or way.ended else select.POLLIN)
            wanted[way.target] = wanted.get(way.target, 0) | (select.POLLOUT if way.rest else 0)
        for end, events in wanted.items():
            if events:  # else one that has hung up would be told of again and again
                poll.register(end, events)
        return [fd for fd, _ in poll.poll() if fd in own]


def refuse(agent: socket.socket, answer: bytes) -> None:
    """Answer and hang up."""
    with agent, contextlib.suppress(OSError):
        agent.send(answer)
        agent.shutdown(socket.SHUT_WR)


def start(words: list[str]) -> Watch:
    """Start the agent under watch. Raises OSError."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    agent = os.fork()
    if agent == 0:
        become(theirs, words)
    theirs.close()
    with ours:
        _, passed = receive(ours, 1)
    if not passed:
        raise OSError(errno.ENOSYS, "it takes Linux 5.14")
    return Watch(agent, passed[0])


def become(parent: socket.socket, words: list[str]) -> NoReturn:
    """The child."""
    for number in (signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    try:
        watched = watch()
    except OSError:
        parent.send(b"F")
        os._exit(125)
    socket.send_fds(parent, [b"W"], [watched])
    os.close(watched)
    try:
        os.execv(words[0], words)  # noqa: S606 - starting it is what this is for
    except OSError as error:
        say(f"{words[0]}: {error.strerror}")
        os._exit(127 if error.errno == errno.ENOENT else 126)


def reap(agent: int) -> None:
    """End as the agent ended."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == agent:
                code = os.waitstatus_to_exitcode(found[1])
                if code < 0:
                    end_by(-code)
                os._exit(code)


def listening(line: socket.socket) -> socket.socket:
    """The port."""
    listener = socket.socket(socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", int(sys.argv[1])))
        listener.listen(MOST_PAIRS)
        listener.setblocking(False)
    except OSError as error:
        fault(line, "port", error)
    return listener


def main() -> NoReturn:
    """Relay until the agent ends, or the line."""
    line = begin()
    signals = watch_signals([signal.SIGCHLD])
    os.set_blocking(signals, False)
    listener = listening(line)
    line.send(b"R")
    if not line.recv(1):
        os._exit(_LEFT)
    try:
        seen = start(sys.argv[2:])
    except OSError as error:
        fault(line, "seccomp notification", error)
    relay = Relay(line, listener, seen)
    work(relay, seen, [listener.fileno(), signals, seen.watched, line.fileno()])


def work(relay: Relay, seen: Watch, own: list[int]) -> NoReturn:
    """Do what there is to do; `own` are listener, signals, stopped calls, line."""
    listener, signals, watched, line = own
    while True:
        told = relay.await_events(own)
        if line in told:
            os._exit(_LEFT)
        if watched in told:
            seen.judge()
        if listener in told:
            relay.admit()
        relay.move()
        if signals in told:
            with contextlib.suppress(BlockingIOError):
                os.read(signals, 64)
            reap(seen.agent)
