"""Tries to break out of a launch. Arguments: a host file, a host process id, a port that the host listens on.

Prints one line for each property that does not hold, else `isolated`. Runs inside; knows nothing of what runs it.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Iterator

NEW_USER_NAMESPACE = 0x10000000


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


def _executes_own_script() -> bool:
    script = os.path.join(os.getcwd(), "script")
    pathlib.Path(script).write_text("#!/usr/bin/python3\n", "ascii")
    os.chmod(script, 0o700)
    try:
        subprocess.run([script], check=False)
    except OSError:
        return False
    return True


def _executes_memory() -> bool:
    """Whether a file that lies on no mount can be executed."""
    try:
        file = os.memfd_create("program", 0)
        os.write(file, pathlib.Path("/usr/bin/python3").read_bytes())
        subprocess.run([f"/proc/self/fd/{file}", "-c", ""], check=False, pass_fds=(file,))
    except OSError:
        return False
    return True


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


def _privileged() -> bool:
    facts = pathlib.Path("/proc/self/status").read_text("ascii")
    return os.geteuid() == 0 or "CapEff:\t0000000000000000" not in facts


def broken(marker: str, pid: int, port: int) -> Iterator[str]:
    """Lines for what was possible."""
    host_process = pid not in {1, os.getpid()} and os.path.exists(f"/proc/{pid}")
    tries = (
        ("a case reads files of the host", os.path.exists(marker) or _reads("/etc/shadow")),
        ("a case reads the memory or environment of the init", _reads("/proc/1/mem") or _reads("/proc/1/environ")),
        ("a case sees processes of others", host_process or bool(_others())),
        ("a case writes outside its work directory", _writes("/usr/planted") or _writes("/planted")),
        ("a case reaches a network", _connects(port) or _opens(socket.AF_NETLINK) or _opens(socket.AF_VSOCK)),
        ("a case holds privileges", _privileged()),
        ("a case makes namespaces", ctypes.CDLL(None).unshare(NEW_USER_NAMESPACE) == 0),
        ("a case executes what its view does not list", _executes_own_script() or _executes_memory()),
    )
    return (line for line, possible in tries if possible)


def main() -> int:
    """Print what is broken; 0 where nothing is."""
    marker, pid, port = sys.argv[1:]
    found = list(broken(marker, int(pid), int(port)))
    print("\n".join(found) or "isolated")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
