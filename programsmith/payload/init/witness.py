"""Tries to break out of a launch. Arguments: a host file, a host process id, a port that the host listens on.

Prints one line for each property that does not hold, else `isolated`. Runs inside; knows nothing of what runs it. Every
grading run starts with it, so it imports little: the modules beneath `socket`, `subprocess`, `pathlib` and `ctypes`
suffice.
"""

from __future__ import annotations

import _ctypes
import _socket
import os
import sys

NEW_USER_NAMESPACE = 0x10000000


def _connects(port: int) -> bool:
    try:
        client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    except OSError:
        return False
    client.settimeout(1)
    try:
        client.connect(("127.0.0.1", port))
    except OSError:
        return False
    finally:
        client.close()
    return True


def _opens(family: int) -> bool:
    try:
        _socket.socket(family, _socket.SOCK_RAW if family == _socket.AF_NETLINK else _socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


def _starts(program: str, *words: str) -> bool:
    try:
        os.waitpid(os.posix_spawn(program, [program, *words], {}), 0)
    except OSError:
        return False
    return True


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _executes_own_script() -> bool:
    script = os.path.join(os.getcwd(), "script")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/usr/bin/python3\n")
    os.chmod(script, 0o700)
    return _starts(script)


def _executes_memory() -> bool:
    """Whether a file that lies on no mount can be executed."""
    try:
        file = os.memfd_create("program", 0)
        os.write(file, _content("/usr/bin/python3"))
    except OSError:
        return False
    return _starts(f"/proc/self/fd/{file}", "-c", "")


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
    """Processes besides this one and the init of which anything can be read."""
    try:
        found = os.listdir("/proc")
    except OSError:
        return []
    others = [p for p in found if p.isdigit() and int(p) not in {1, os.getpid()}]
    return [p for p in others if any(_reads(f"/proc/{p}/{what}") for what in ("cmdline", "stat", "status"))]


def _makes_namespaces() -> bool:
    unshare = _ctypes.dlsym(_ctypes.dlopen(None, 0), "unshare")  # type: ignore[arg-type]
    return bool(_ctypes.call_function(unshare, (NEW_USER_NAMESPACE,)) == 0)


def _privileged() -> bool:
    return os.geteuid() == 0 or b"CapEff:\t0000000000000000" not in _content("/proc/self/status")


def broken(marker: str, pid: int, port: int) -> list[str]:
    """Lines for what was possible."""
    host_process = pid not in {1, os.getpid()} and _reads(f"/proc/{pid}/cmdline")
    tries = (
        ("a case reads files of the host", _reads(marker) or _reads("/etc/shadow")),
        ("a case reads the memory or environment of the init", _reads("/proc/1/mem") or _reads("/proc/1/environ")),
        ("a case sees processes of others", host_process or bool(_others())),
        ("a case writes outside its work directory", _writes("/usr/planted") or _writes("/planted")),
        ("a case reaches a network", _connects(port) or _opens(_socket.AF_NETLINK) or _opens(_socket.AF_VSOCK)),
        ("a case holds privileges", _privileged()),
        ("a case makes namespaces", _makes_namespaces()),
        ("a case executes what its view does not list", _executes_own_script() or _executes_memory()),
    )
    return [line for line, possible in tries if possible]


def main() -> int:
    """Print what is broken; 0 where nothing is."""
    marker, pid, port = sys.argv[1:]
    found = broken(marker, int(pid), int(port))
    print("\n".join(found) or "isolated")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
