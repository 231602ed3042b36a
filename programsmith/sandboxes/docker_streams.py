"""Standard streams of a container over one attached connection of the engine.

In: the connection, bytes for stdin, a cap per stream, a deadline. Out: a `Flow` as a launcher's pump gives it. The
engine sends frames: stream number, three zero bytes, four bytes of length, content.
"""

from __future__ import annotations

import selectors
import socket
import time

from programsmith.payload.verifier.pump import Flow

_HEADER = 8
_CHUNK = 1 << 16
_STDERR = 2


class Streams:
    """One container's streams. The connection was made before the container started, so nothing is missed."""

    def __init__(self, connection: socket.socket, data: bytes, output_cap: int, deadline: float) -> None:
        self._connection = connection
        self._rest = memoryview(data)
        self._cap = output_cap
        self._deadline = deadline
        self._buffer = bytearray()
        self.flow = Flow()

    def run(self) -> Flow:
        """Move bytes until the container closes its streams or a limit is passed. Raises OSError."""
        self._connection.setblocking(False)
        with selectors.DefaultSelector() as select:
            select.register(self._connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while self.flow.over is None:
                left = self._deadline - time.monotonic()
                if left <= 0:
                    self.flow.over = "wall"
                    break
                if not self._turn(select, left):
                    break
        return self.flow

    def _turn(self, select: selectors.BaseSelector, left: float) -> bool:
        """Move what can be moved now; False at the end."""
        for _, events in select.select(left):
            if events & selectors.EVENT_WRITE and not self._feed():
                select.modify(self._connection, selectors.EVENT_READ)
            if events & selectors.EVENT_READ and not self._drain():
                return False
        return True

    def _feed(self) -> bool:
        """Send what the engine takes of stdin; False once that is closed."""
        try:
            if self._rest:
                self._rest = self._rest[self._connection.send(self._rest[:_CHUNK]) :]
                return True
            self._connection.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            return True
        except OSError:
            return False  # nobody reads any more: the program ended or closed its input
        return False

    def _drain(self) -> bool:
        try:
            part = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return True
        self._buffer += part
        while len(self._buffer) >= _HEADER:
            size = int.from_bytes(self._buffer[4:_HEADER], "big")
            if len(self._buffer) < _HEADER + size:
                break
            sink = self.flow.stderr if self._buffer[0] == _STDERR else self.flow.stdout
            sink += self._buffer[_HEADER : _HEADER + size]
            del self._buffer[: _HEADER + size]
            if len(sink) > self._cap:
                del sink[self._cap :]
                self.flow.over = "output"
                return False
        return bool(part)
