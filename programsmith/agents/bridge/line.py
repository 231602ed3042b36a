"""The host's end of a line: the one connection between whoever opened a sandbox and a program of ours inside.

In: a folder that the sandbox shows. Out: packets. Whoever connects first is our program, for it starts before anything
foreign does; then the socket is gone from the folder, so nobody connects after it. The far end ends with its line.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.payload.verifier.launcher import Result

NAME, COMMANDS = "line", "commands"
READY, FAULT = b"R", b"F"
_MOST = 4096
_SECONDS = 120.0  # in which a sandbox starts a program of ours; an engine may be busy


def bound(folder: Path, name: str, kind: socket.SocketKind) -> socket.socket:
    """A listening socket at `name`, that every user of this host could open who reaches the folder.

    The folder's own path may be longer than a socket's may be.
    """
    listener = socket.socket(socket.AF_UNIX, kind)
    at = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{at}/{name}")
        os.chmod(folder / name, 0o666)  # noqa: S103 - the sandbox's user is another one
        listener.listen(128)
    except BaseException:
        listener.close()
        raise
    finally:
        os.close(at)
    return listener


class Line:
    """A line. `accept` once, then `send` and `hear`; `hang_up` ends the far end, from any thread; then `close`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._listener = bound(folder, NAME, socket.SOCK_SEQPACKET)
        self._connection: socket.socket | None = None

    def accept(self, running: Future[Result]) -> None:
        """Wait for the program that `running` started. Raises InfraError, and whatever ended `running` before."""
        woken, wake = socket.socketpair()
        running.add_done_callback(lambda _: wake.close())
        try:
            ready, _, _ = select.select([self._listener, woken], [], [], _SECONDS)
            if self._listener not in ready:
                raise _silent(running)
            self._connection, _ = self._listener.accept()
        finally:
            woken.close()
            self._listener.close()
            self._path.unlink(missing_ok=True)

    def send(self, word: bytes, *passed: int) -> None:
        """Send a packet with descriptors. A far end that is gone is no error."""
        if self._connection:
            with contextlib.suppress(OSError):
                socket.send_fds(self._connection, [word], passed)

    def hear(self) -> bytes:
        """The next packet; empty where the far end is gone, or this one."""
        try:
            return self._connection.recv(_MOST) if self._connection else b""
        except OSError:
            return b""

    def ready(self, what: str) -> None:
        """Wait for the word that the program is ready. Raises InfraError."""
        said = self.hear()
        if said != READY:
            why = said[1:].decode("utf-8", "backslashreplace") if said.startswith(FAULT) else "it ended without a word"
            raise InfraError(f"{what}: {why}")

    def serve(self, answer: Callable[[bytes], None]) -> None:
        """Hand every packet to `answer` until the far end is gone."""
        while said := self.hear():
            answer(said)

    def hang_up(self) -> None:
        """End the far end, and whoever hears; one that has not come yet never does. Idempotent."""
        self._listener.close()
        if self._connection:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up, once nobody hears any more. Idempotent."""
        self._listener.close()
        self._path.unlink(missing_ok=True)
        if self._connection:
            self._connection.close()


def _silent(running: Future[Result]) -> Exception:
    """Why nobody came."""
    if not running.done():
        return InfraError(f"a program of ours did not start in its sandbox within {_SECONDS:g} s")
    fault = running.exception()
    if isinstance(fault, Exception):
        return fault
    result = running.result()
    said = result.stderr[-400:].decode("utf-8", "backslashreplace")
    why = os.strerror(result.start_error) if result.start_error else f"exit code {result.exit_code}: {said}"
    return InfraError(f"a program of ours ended in its sandbox before it was ready: {why}")
