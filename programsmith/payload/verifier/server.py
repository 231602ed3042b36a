"""Launch servers: the C program of payload/launch, started once for a slot, and what is said to it.

In: its path and its setup; then, for each launch, what its root must hold and its descriptors. Out: the word that all
processes of the launch are dead. A server that does not answer is killed, and its launch dies with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Callable

from programsmith.payload.verifier.cgroup import Group
from programsmith.payload.verifier.host import Ends, is_readable, pipes
from programsmith.payload.verifier.launcher import LauncherError

_READY, _DEAD, _FAULT = b"R", b"D", b"F"
_START, _LINGER, _SILENCE = 20.0, 0.05, 10.0  # seconds
_HEAD = 9  # bytes before the text of a fault


class Server:
    """A running server, which gets ready by itself. Used by one launch at a time. Raises OSError."""

    def __init__(self, path: str, setup: bytes) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        order = os.memfd_create("setup")
        try:
            os.write(order, setup)
            self._process = subprocess.Popen(
                [path, str(theirs.fileno()), str(order)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), order),
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:
            self._control.close()
            raise
        finally:
            theirs.close()
            os.close(order)
        self._owes = False  # whether the word about the last launch is still to come
        self._ready = False

    def await_ready(self) -> None:
        """Wait for the word that launches may come. Raises LauncherError."""
        said = _READY if self._ready else self._hear(_START)
        if said != _READY:
            self.close()
            raise LauncherError(f"launch server: {_shown(said)}")
        self._ready = True

    def launch(self, asked: bytes, passed: tuple[int, ...]) -> bool:
        """Hand a launch over, in a root that holds what is `asked` for; False where the server has ended.

        Raises LauncherError where it has never been ready.
        """
        if self._control.fileno() >= 0:
            self.await_ready()
        if self._control.fileno() < 0 or (self._owes and self.end(kill=False)):
            return False
        try:
            socket.send_fds(self._control, [asked], passed)
        except ConnectionError:
            return False
        self._owes = True
        return True

    def end(self, *, kill: bool) -> str | None:
        """Wait until the launch is dead, asking for it where it lingers; why that did not come, else None."""
        said = None if kill else self._hear(_LINGER)
        if said is None:
            with contextlib.suppress(OSError):
                self._control.send(b"K")
            said = self._hear(_SILENCE)
        self._owes = False
        if said == _DEAD:
            return None
        self.close()
        return f"launch server: {_shown(said)}"

    def let_go(self) -> None:
        """Have the server end, and with it what it launched."""
        self._control.close()

    def close(self) -> None:
        """The same, and wait for it."""
        self.let_go()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_SILENCE)
            return
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _hear(self, seconds: float) -> bytes | None:
        """The next message; empty where the server is gone, None where it is silent."""
        if not is_readable(self._control.fileno(), seconds):
            return None
        with contextlib.suppress(ConnectionError):
            return self._control.recv(4096)
        return b""


def _shown(said: bytes | None) -> str:
    if said is None:
        return "no answer"
    return said[_HEAD:].decode("utf-8", "backslashreplace") if said.startswith(_FAULT) else "it ended without a word"


class Launched:
    """A launch in the hands of a server, with our ends of its pipes."""

    def __init__(self, server: Server, group: Group | None, ours: Ends) -> None:
        self._server = server
        self._group = group
        self.stdin, self.stdout, self.stderr, self.status = ours

    def end(self, *, kill: bool, done: bool) -> str | None:
        """Wait for the word that all processes are dead, where the report did not say so; why it did not come."""
        if done and not kill:
            return None
        fault = self._server.end(kill=kill)
        if fault and self._group:
            self._group.kill()
        return fault


class Servers:
    """One server per slot, started ahead or when a launch needs it, and again where it died."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._by_slot: dict[int, Server] = {}

    def prepare(self, slot: int, setup: bytes) -> None:
        """Start the server of a slot without waiting for it. Raises OSError."""
        if slot not in self._by_slot:
            self._by_slot[slot] = Server(self._path, setup)

    def launch(
        self, slot: int, group: Group | None, setup: Callable[[], bytes], asked: bytes, request: int
    ) -> Launched:
        """Launch what lies in the file `request`. Raises OSError, LauncherError."""
        ours, theirs = pipes()
        try:
            server = self._handed(slot, setup, asked, (*theirs, request))
        except (OSError, LauncherError):
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return Launched(server, group, ours)

    def _handed(self, slot: int, setup: Callable[[], bytes], asked: bytes, passed: tuple[int, ...]) -> Server:
        server = self._by_slot.get(slot)
        if server is None or not server.launch(asked, passed):
            if server is not None:
                server.close()
            server = self._by_slot[slot] = Server(self._path, setup())
            if not server.launch(asked, passed):
                raise LauncherError("launch server: it ended before its first launch")
        return server

    def close(self) -> None:
        """End all of them. No launch may be under way."""
        for server in self._by_slot.values():
            server.let_go()
        for server in self._by_slot.values():
            server.close()
        self._by_slot.clear()
