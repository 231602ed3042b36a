"""Listeners on the host that answer whatever reaches them: TCP, UDP, an abstract socket and one with a path.

Out: how to reach them, and what they heard. Every listener is closed at the end. The path of a socket is short, and a
project may lie deep: the one with a path lies where temporary files go or in the shared root, whichever is shorter.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.sandboxes.scratch import places, scratch

ANSWER = b"heard"
TICK, PATIENCE = 0.05, 1.0  # seconds


@dataclass(slots=True)
class Listeners:
    """Where they listen: two ports, an abstract name, a path, numeric addresses by what they are.

    `heard` counts contacts by kind.
    """

    tcp: int
    udp: int
    abstract: str
    path: str
    addresses: dict[str, str]
    heard: Counter[str] = field(default_factory=Counter)

    def words(self) -> tuple[str, ...]:
        """The arguments of an egress probe."""
        return (str(self.tcp), str(self.udp), self.abstract, self.path, *self.addresses.values())


@contextmanager
def listening() -> Iterator[Listeners]:
    """Listen until the block ends. Raises InfraError where the host has no loopback."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch("probe", min(places(), key=lambda place: len(os.fsencode(place)))))
            sockets, found = _open(stack, folder)
        except OSError as fault:
            raise InfraError(f"cannot listen on this host's loopback: {fault}") from fault
        stop = threading.Event()
        thread = threading.Thread(target=_answer, args=(sockets, found, stop), daemon=True)
        thread.start()
        try:
            yield found
        finally:
            stop.set()
            thread.join()


def _open(stack: ExitStack, folder: Path) -> tuple[dict[socket.socket, str], Listeners]:
    """Dual-stack sockets where the host has IPv6, else IPv4 alone."""
    family, place = (socket.AF_INET6, "::") if socket.has_dualstack_ipv6() else (socket.AF_INET, "0.0.0.0")  # noqa: S104
    tcp = stack.enter_context(socket.create_server((place, 0), family=family, dualstack_ipv6=family == socket.AF_INET6))
    udp = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
    if family == socket.AF_INET6:
        udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    udp.bind((place, 0))
    folder.chmod(0o755)
    name, path = f"programsmith-{os.getpid()}-{os.urandom(4).hex()}", str(folder / "probe.sock")
    named = {"abstract": "\0" + name, "socket": path}
    sockets = {tcp: "tcp", udp: "udp"}
    for kind, address in named.items():
        way = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        way.bind(address)
        if kind == "socket":
            os.chmod(path, 0o777)  # noqa: S103 - whoever comes this far must be heard
        way.listen()
        sockets[way] = kind
    addresses = (
        {"loopback": "127.0.0.1", "loopback6": "::1"} if family == socket.AF_INET6 else {"loopback": "127.0.0.1"}
    )
    found = Listeners(tcp.getsockname()[1], udp.getsockname()[1], name, path, {**addresses, **_own_address()})
    return sockets, found


def _own_address() -> dict[str, str]:
    """The address that a route out of this host would use; none where there is no route. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("198.51.100.1", 9))
        except OSError:
            return {}
        return {"own": str(way.getsockname()[0])}


def _answer(sockets: dict[socket.socket, str], found: Listeners, stop: threading.Event) -> None:
    with selectors.DefaultSelector() as ready:
        for way in sockets:
            ready.register(way, selectors.EVENT_READ)
        while not stop.is_set():
            for key, _ in ready.select(TICK):
                if isinstance(key.fileobj, socket.socket):
                    found.heard[sockets[key.fileobj]] += 1
                    _reply(key.fileobj)


def _reply(way: socket.socket) -> None:
    if way.type == socket.SOCK_DGRAM:
        _, sender = way.recvfrom(512)
        way.sendto(ANSWER, sender)
        return
    other, _ = way.accept()
    with other, suppress(OSError):  # whoever hangs up has reached us all the same
        other.settimeout(PATIENCE)
        other.recv(512)
        other.sendall(ANSWER)
