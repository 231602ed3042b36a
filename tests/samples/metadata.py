"""A network of its own in which a cloud's metadata server answers; runs the words of its arguments in it.

What a host's own network has at that address is nobody's business here. Exit: that of the words.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading

ADDRESS = "169.254.169.254"
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
SET_FLAGS, SET_ADDRESS = 0x8914, 0x8916
UP = 1


def plant() -> None:
    """A network whose loopback has the address. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_NETWORK | (NEW_USER if os.geteuid() else 0)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        fcntl.ioctl(ours, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
        own = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
        fcntl.ioctl(ours, SET_ADDRESS, struct.pack("16s16s", b"lo:0", own))


def answer(listener: socket.socket) -> None:
    while True:
        one, _ = listener.accept()
        with one:
            one.recv(10_000)
            one.sendall(b"HTTP/1.0 200 OK\r\n\r\nplanted")


def main() -> int:
    plant()
    listener = socket.create_server((ADDRESS, 80))
    threading.Thread(target=answer, args=(listener,), daemon=True).start()
    return subprocess.run(sys.argv[1:]).returncode


if __name__ == "__main__":
    sys.exit(main())
