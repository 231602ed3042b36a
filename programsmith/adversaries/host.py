"""What lies and listens on the host while an adversary tries: a file with all answers, and a server that gives it away.

In: a folder, the answers. Out: where both are, and how often the server was reached. Closed at the end.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from programsmith.errors import InfraError

TICK, PATIENCE = 0.05, 2.0  # seconds


@dataclass(slots=True)
class Host:
    """`answers` is a file that nobody but this user reads; `address` is the server's; `heard` counts its callers."""

    answers: Path
    address: tuple[str, int]
    heard: int = 0


@contextmanager
def host(folder: Path, answers: bytes) -> Iterator[Host]:
    """Serve until the block ends. Raises InfraError where the host has no loopback."""
    place = folder / "answers"
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
