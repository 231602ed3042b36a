"""Tries every way out of a sandbox that it knows; prints one line for each that is open. Runs inside, as a program.

Arguments: a TCP port and the name of an abstract socket that the host listens on, a file of the host, a process id.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pathlib
import platform
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

LIBC = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
CALLS = {  # name: (x86_64, aarch64, arguments that no kernel answers with EPERM or ENOSYS by itself)
    "io_uring_setup": (425, 425, (4, 0)),
    "ptrace": (101, 117, (16, 4194300, 0, 0)),
    "process_vm_readv": (310, 270, (os.getppid(), 0, 0, 0, 0, 0)),
    "pidfd_getfd": (438, 438, (-1, 0, 0)),
    "userfaultfd": (323, 282, (1,)),
    "bpf": (321, 280, (0, 0, 0)),
    "perf_event_open": (298, 241, (0, 0, -1, -1, 0)),
    "keyctl": (250, 219, (0, -3, 0)),
    "add_key": (248, 217, (0, 0, 0, 0, 0)),
    "mount": (165, 40, (0, 0, 0, 0, 0)),
    "open_tree": (428, 428, (-1, 0, 0)),
    "fsopen": (430, 430, (0, 0)),
    "unshare user": (272, 97, (0x10000000,)),
    "unshare mount": (272, 97, (0x20000,)),
    "setns": (308, 268, (-1, 0)),
    "clone3": (435, 435, (0, 0)),
    "kexec_load": (246, 104, (0, 0, 0, 0)),
    "init_module": (175, 105, (0, 0, 0)),
    "shmget": (29, 194, (0, 4096, 0o1600)),
    "msgget": (68, 186, (0, 0o1600)),
    "semget": (64, 190, (0, 1, 0o1600)),
    "mq_open": (240, 180, (0, 0, 0, 0)),
    "open_by_handle_at": (304, 265, (-1, 0, 0)),
    "inotify_init1": (294, 26, (0,)),
}
CLOSED = {1, 38}  # EPERM, ENOSYS
FAMILIES = {
    "netlink": (16, 3),
    "packet": (17, 3),
    "vsock": (40, 1),
    "alg": (38, 5),
    "key": (15, 3),
    "bluetooth": (31, 3),
}


def succeeds(action: Callable[[], object]) -> bool:
    try:
        action()
    except (OSError, subprocess.SubprocessError, ValueError):
        return False
    return True


def in_child(action: Callable[[], bool]) -> bool:
    """Whether the action holds, tried where it cannot change this process."""
    child = os.fork()
    if child == 0:
        os._exit(0 if action() else 1)
    return os.waitpid(child, 0)[1] == 0


def is_open(number: int, words: tuple[int, ...]) -> bool:
    ctypes.set_errno(0)
    result = LIBC.syscall(*(ctypes.c_long(w) for w in (number, *words)))
    return result >= 0 or ctypes.get_errno() not in CLOSED


def calls() -> Iterator[str]:
    for name, (x86, arm, words) in CALLS.items():
        if in_child(lambda n=x86 if X86 else arm, w=words: is_open(n, w)):
            yield name
    for name, (family, kind) in FAMILIES.items():
        if succeeds(lambda f=family, k=kind: socket.socket(f, k).close()):
            yield name
    if succeeds(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()):
        yield "raw socket"


def network(port: int, abstract: str) -> Iterator[str]:
    places = {"loopback": ("127.0.0.1", port), "test net": ("192.0.2.1", 80), "metadata": ("169.254.169.254", 80)}
    for name, place in places.items():
        if succeeds(lambda p=place: socket.create_connection(p, 2).close()):
            yield name
    if succeeds(lambda: socket.create_connection(("2001:db8::1", 80), 2).close()):
        yield "IPv6"
    unix = socket.socket(socket.AF_UNIX)
    if succeeds(lambda: unix.connect("\0" + abstract)):
        yield "abstract socket"
    if succeeds(lambda: socket.getaddrinfo("example.org", 80)):
        yield "names"
    if len(os.listdir("/sys/class/net")) > 1 if os.path.isdir("/sys/class/net") else False:
        yield "interfaces"


def first_byte(path: str) -> None:
    """Raise OSError where there is nothing to see."""
    if os.path.isdir(path) and not os.listdir(path):
        raise OSError(path)
    if not os.path.isdir(path):
        open(path, "rb").close()


def files(marker: str) -> Iterator[str]:
    for path in (
        marker,
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/etc/shadow",
        "/proc/1/mem",
        "/proc/1/environ",
        "/proc/kcore",
        "/proc/1/root/etc",
        "/run/init",
        "/dev/mem",
        "/dev/kmsg",
        "/dev/sda",
        "/dev/vda",
    ):
        if succeeds(lambda p=path: first_byte(p)):
            yield f"reads {path}"
    for path in (
        "/etc/ld.so.preload",
        "/etc/passwd",
        "/usr/bin/planted",
        "/planted",
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/sys/kernel/uevent_helper",
        "/sys/fs/cgroup/planted",
    ):
        if succeeds(lambda p=path: open(p, "ab").close()):
            yield f"writes {path}"
    if succeeds(lambda: os.mknod("disk", 0o600 | 0o060000, os.makedev(8, 0))):
        yield "makes a device"


def privileges() -> Iterator[str]:
    status = pathlib.Path("/proc/self/status").read_text("ascii")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        if int(fields[name], 16):
            yield f"{name} {fields[name]}"
    for name, wanted in (("NoNewPrivs", "1"), ("Seccomp", "2")):
        if fields.get(name) != wanted:
            yield f"{name} {fields.get(name)}"
    if fields["Groups"].strip():
        yield f"groups {fields['Groups']}"
    if 0 in {os.getuid(), os.geteuid(), os.getgid(), os.getegid()}:
        yield "root"
    yield from rights()


def rights() -> Iterator[str]:
    if succeeds(lambda: os.setuid(0)) or succeeds(lambda: os.setgid(0)):
        yield "becomes root"
    for program in filter(os.path.exists, ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/newgrp")):
        done = subprocess.run([program, "-c", "id -u"], capture_output=True, stdin=subprocess.DEVNULL, check=False)
        if done.stdout.strip() == b"0":
            yield f"{program} gives root"


def others(pid: int) -> Iterator[str]:
    if pid != os.getpid() and succeeds(lambda: os.kill(pid, 0)):
        yield "signals a process of the host"
    for name in filter(str.isdigit, os.listdir("/proc")):
        if int(name) not in {1, os.getpid(), os.getppid()}:
            yield f"sees process {name}"


def foreign() -> Iterator[str]:
    """System calls of another architecture, for which a process may be killed."""
    if not X86:
        return

    def interrupt() -> bool:
        code = b"\x31\xc0\xb0\x14\xcd\x80\xc3"  # xor eax,eax; mov al,20 (getpid of i386); int 0x80; ret
        room = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        room.write(code)
        address = ctypes.addressof(ctypes.c_char.from_buffer(room))
        return bool(ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid())

    if in_child(interrupt):
        yield "32-bit calls"
    if in_child(lambda: LIBC.syscall(ctypes.c_long(0x40000000 | 39)) == os.getpid()):
        yield "x32 calls"


def main() -> int:
    port, abstract, marker, pid = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    found = [*others(pid), *files(marker), *privileges(), *network(port, abstract), *calls(), *foreign()]
    print("\n".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
