"""A launch server that is broken: it speaks the protocol and launches nothing. Arguments: HOW CONTROL_FD SETUP_FD."""

from __future__ import annotations

import os
import socket
import struct
import sys

STATUS = 3


def main() -> None:
    how, control = sys.argv[1], socket.socket(fileno=int(sys.argv[2]))
    control.send(b"R")
    _, passed, _, _ = socket.recv_fds(control, 1 << 16, 5)
    if how == "half_a_status":
        os.write(passed[STATUS], b"S" + struct.pack("<Q", 0))
    if how == "end_without_start":
        os.write(passed[STATUS], b"X" + struct.pack("<5Q", 32, 0, 0, 0, 0) + b"Z" + struct.pack("<Q", 0))
    if how == "broken_record":
        os.write(passed[STATUS], b"X" + struct.pack("<2Q", 8, 0) + b"Z" + struct.pack("<Q", 0))
    for fd in passed:
        os.close(fd)
    if how != "gone_at_once":
        control.send(b"D")
        control.recv(1)


if __name__ == "__main__":
    main()
