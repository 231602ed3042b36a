"""Tries to break out of a launch. Arguments: a host file, a host process id, a port that the host listens on.

Prints one line for each property that does not hold, else `isolated`. Runs inside; knows nothing of what runs it.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import socket
import sys
from collections.abc import Iterator


def _connects(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _opens(family: int) -> bool:
    try:
        socket.socket(family, socket.SOCK_RAW if family == socket.AF_NETLINK else socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


def _executes(path: str) -> bool:
    child = os.fork()
    if child == 0:
        try:
            os.execv(path, [path])
        except OSError:
            os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 9


def _writes(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    except OSError:
        return False
    return True


def _reads(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def _others() -> list[str]:
    return [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in {1, os.getpid()}]


def _routes() -> list[str]:
    return [name for _, name in socket.if_nameindex() if name != "lo"]


def broken(marker: str, pid: int, port: int) -> Iterator[str]:
    """Lines for what was possible."""
    if os.path.exists(marker) or _reads("/etc/shadow"):
        yield "a case reads files of the host"
    if _reads("/proc/1/mem") or _reads("/proc/1/environ"):
        yield "a case reads the memory or environment of the init"
    if os.path.exists(f"/proc/{pid}") and pid not in {1, os.getpid()} or _others():
        yield "a case sees processes of others"
    if _writes("/usr/planted") or _writes("/planted"):
        yield "a case writes outside its work directory"
    if _connects(port) or _opens(socket.AF_NETLINK) or _opens(socket.AF_VSOCK):
        yield "a case reaches a network"
    if os.geteuid() == 0 or "CapEff:\t0000000000000000" not in pathlib.Path("/proc/self/status").read_text("ascii"):
        yield "a case holds privileges"
    if ctypes.CDLL(None).unshare(0x10000000) == 0:
        yield "a case makes namespaces"
    script = os.path.join(os.getcwd(), "script")
    pathlib.Path(script).write_text("#!/usr/bin/python3\n", "ascii")
    os.chmod(script, 0o755)
    if _executes(script):
        yield "a case executes what its view does not list"


def main() -> int:
    """Print what is broken; 0 where nothing is."""
    marker, pid, port = sys.argv[1:]
    found = list(broken(marker, int(pid), int(port)))
    print("\n".join(found) or "isolated")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
