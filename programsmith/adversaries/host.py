"""What is on the host while an adversary tries: a file with all answers, a server that gives it away, a process.

In: a folder, the answers. Out: where they are, how often the server was reached, whether the process lives, and which
processes of the adversary's outlived it. Closed at the end, with whatever is left.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from programsmith.errors import InfraError

TICK, PATIENCE = 0.05, 2.0  # seconds
FOLDERS = ("/", "/tmp", "/dev/shm", "/var/tmp", "/run")  # noqa: S108 - of the host, which no launch may write to
NAMES = ("meet", "reward.json", "table", "answer.so", "much", "0")  # what exploits write wherever they can
VICTIM = ("/bin/sh", "-c", "read line", "victim")  # waits for its standard input


@dataclass(slots=True)
class Host:
    """`answers` is a file that nobody but this user reads; `address` is the server's; `heard` counts its callers.

    `token` is a word that nothing else on this host has in its command line.
    """

    answers: Path
    address: tuple[str, int]
    heard: int = 0
    token: str = field(default_factory=lambda: f"adversary-{os.urandom(8).hex()}")
    _victim: subprocess.Popen[bytes] | None = None
    _before: frozenset[str] = field(default_factory=lambda: _there())  # noqa: PLW0108 - it stands below

    def planted(self) -> tuple[str, ...]:
        """Files of exploits that have appeared on the host."""
        return tuple(sorted(_there() - self._before))

    def victim(self) -> int:
        """Start a process that has the answers in its command line; its number. Raises OSError."""
        words = [*VICTIM, f"{self.token}-answers\n{self.answers.read_text('ascii')}"]
        self._victim = subprocess.Popen(words, stdin=subprocess.PIPE, env={}, cwd="/")
        return self._victim.pid

    def is_hurt(self) -> bool:
        """Whether a process of ours was ended by somebody else."""
        return self._victim is not None and self._victim.poll() is not None

    def left(self) -> tuple[int, ...]:
        """Processes of the adversary's that are alive."""
        word, found = self.token.encode(), []
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{name}/cmdline", "rb") as line:
                if word in line.read().split(b"\0"):
                    found.append(int(name))
        return tuple(found)

    def close(self) -> None:
        """End them all."""
        for pid in self.left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self._victim is not None:
            self._victim.kill()
            self._victim.communicate()


def _there() -> frozenset[str]:
    places = (os.path.join(folder, name) for folder in FOLDERS for name in NAMES)
    return frozenset(place for place in places if os.path.lexists(place))


@contextmanager
def host(folder: Path, answers: bytes) -> Iterator[Host]:
    """Serve until the block ends. Raises InfraError where the host has no loopback."""
    place = folder / "answers" / "table.txt"
    place.parent.mkdir()
    place.write_bytes(answers)
    place.chmod(0o600)
    try:
        server = socket.create_server(("127.0.0.1", 0))
    except OSError as fault:
        raise InfraError(f"cannot listen on this host's loopback: {fault}") from fault
    with server:
        server.settimeout(TICK)
        found = Host(answers=place, address=server.getsockname())
        stop = threading.Event()
        thread = threading.Thread(target=_serve, args=(server, found, answers, stop), daemon=True)
        thread.start()
        try:
            yield found
        finally:
            stop.set()
            thread.join()
            found.close()


def _serve(server: socket.socket, found: Host, answers: bytes, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            caller, _ = server.accept()
        except TimeoutError:
            continue
        found.heard += 1
        with caller, suppress(OSError):  # whoever hangs up has reached us all the same
            caller.settimeout(PATIENCE)
            caller.sendall(answers)
