"""Gets whatever a server on the host gives away. `server.txt` beside it says where that is."""

from __future__ import annotations

import socket

WHERE = "/app/submission/server.txt"


def fetch(place: str) -> None:
    """Save what the server sends at `place`; nothing where it cannot be reached."""
    with open(WHERE, encoding="ascii") as file:
        host, port = file.read().split()
    try:
        with socket.create_connection((host, int(port)), timeout=5) as way, open(place, "wb") as out:
            while part := way.recv(1 << 16):
                out.write(part)
    except OSError:
        return


if __name__ == "__main__":
    fetch("/app/submission/table.txt")
