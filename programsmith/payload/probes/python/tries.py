"""Answers a case exactly where the one thing can be done that its line of tries.txt names.

So the verifier's own words tell what a case can do: AC says that it could. Lines of tries.txt stand in the order of the
cases of table.txt, which lies beside it. Each try leaves the work
directory as it was, for it belongs to the answer.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

HOME = "/app/submission"
USUAL = (
    *("app", "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "logs", "media", "mnt", "opt"),
    *("proc", "root", "run", "sbin", "slots", "srv", "sys", "tmp", "usr", "var", "work"),
)
CLOSED = ("/tests", "/solution", "/root", "/proc/1/environ", "/proc/1/mem", "/etc/shadow")
TEMPORARY, MEMORY = "/tmp", "/dev/shm"  # noqa: S108 - the case's own
OWN = {"/work", TEMPORARY, MEMORY, "/proc", "/slots", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty"}
LEFT = "left-by-a-case"
MIB = 1 << 20
BURNERS, BURNED = 6, 0.12  # processes, seconds of each
HOLDERS, HELD = 4, 40 * MIB  # processes, bytes of each
FILLING = 16  # files of one megabyte
READ_IMPLIES_EXEC = 0x400000  # of personality(2)


def lists(path: str) -> bool:
    """Whether a folder can be listed or a file be opened."""
    try:
        if os.path.isdir(path):
            return bool(os.listdir(path))
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def tops() -> Iterator[str]:
    """What lies at the top."""
    try:
        yield from (f"/{name}" for name in os.listdir("/"))
    except OSError:
        return


def reads() -> bool:
    """Something of the verifier's or of the host's shows, or a folder that no system has."""
    odd = [path for path in tops() if path[1:] not in USUAL and not path.startswith("/.")]
    return any(map(lists, (*CLOSED, *odd)))


def writes() -> bool:
    """A file can be left outside of the case's own places."""
    below = [os.path.join(path, name) for path in ("/var", "/dev") if lists(path) for name in os.listdir(path)]
    for folder in {"/", HOME, *tops(), *below} - OWN:
        place = os.path.join(folder, LEFT)
        try:
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT))
            os.unlink(place)
        except OSError:
            continue
        return True
    return False


def leave() -> None:
    """Leave a file in each of the case's own places, for whichever case comes next."""
    for folder in (TEMPORARY, MEMORY):
        try:
            os.close(os.open(os.path.join(folder, LEFT), os.O_WRONLY | os.O_CREAT, 0o644))
        except OSError:
            continue


def finds() -> bool:
    """What another case has left is still there."""
    return any(os.path.exists(os.path.join(folder, LEFT)) for folder in (TEMPORARY, MEMORY))


def others() -> bool:
    """A process shows that is neither this one nor the first."""
    try:
        found = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in {1, os.getpid()}]
    except OSError:
        return False
    return any(lists(f"/proc/{name}/{what}") for name in found for what in ("cmdline", "environ", "maps"))


def privileged() -> bool:
    """This process is root, holds a capability, could gain one, or has no filter of system calls."""
    with open("/proc/self/status", encoding="ascii") as file:
        said = dict(line.strip().partition(":\t")[::2] for line in file)
    return os.geteuid() == 0 or int(said["CapEff"], 16) != 0 or said["NoNewPrivs"] != "1" or said["Seccomp"] != "2"


def starts(path: str) -> bool:
    """Whether a file can be executed. What it says goes nowhere."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        os.waitpid(os.posix_spawn(path, [path, "-c", ""], {}, file_actions=quiet), 0)
    except OSError:
        return False
    return True


def executes() -> bool:
    """A program of one's own can be executed, from a folder or from memory."""
    with open("/proc/self/exe", "rb") as file:
        program = file.read()
    return any(lies_and_starts(folder, program) for folder in (TEMPORARY, os.getcwd())) or starts_in_memory(program)


def lies_and_starts(folder: str, program: bytes) -> bool:
    """Whether a folder takes a program that then can be executed; it is gone afterwards."""
    own = os.path.join(folder, "program-of-a-case")
    try:
        with open(own, "wb") as copy:
            copy.write(program)
        os.chmod(own, 0o700)
    except OSError:
        return False
    started = starts(own)
    os.unlink(own)
    return started


def starts_in_memory(program: bytes) -> bool:
    """Whether a file that lies in no folder can be executed."""
    try:
        memory = os.memfd_create("program", 0)
        os.write(memory, program)
    except OSError:
        return False
    return starts(f"/proc/self/fd/{memory}")


def loads() -> bool:
    """Code that a case wrote into a file can be brought to life."""
    return any(lies_and_maps(folder) for folder in (TEMPORARY, os.getcwd()))


def lies_and_maps(folder: str) -> bool:
    """Whether a folder takes a file that then can be mapped as code; it is gone afterwards."""
    own = os.path.join(folder, "code-of-a-case")
    try:
        with open(own, "wb") as file:
            file.write(b"\0")
        return maps(own)
    except OSError:
        return False
    finally:
        if os.path.exists(own):
            os.unlink(own)


def maps(path: str) -> bool:
    """Whether a file can be mapped as code."""
    with open(path, "rb") as file:
        return holds(file.fileno(), mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)


def holds(file: int, flags: int, protection: int) -> bool:
    """Whether there is such memory, be it a byte."""
    try:
        mmap.mmap(file, 1, flags, protection).close()
    except OSError:
        return False
    return True


def makes() -> bool:
    """Code can be brought to life that a script wrote into a file or memory, or that lies beside it."""
    both = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    return loads() or maps(f"{HOME}/tries.txt") or holds(-1, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, both) or turns()


def turns() -> bool:
    """Memory can become executable that was written before, or all that can be read."""
    if importlib.util.find_spec("_ctypes") is None:
        return False
    ctypes: Any = importlib.import_module("ctypes")
    calls, room = ctypes.CDLL(None), mmap.mmap(-1, 1)
    at = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(room)))
    turned = calls.mprotect(at, ctypes.c_size_t(1), mmap.PROT_READ | mmap.PROT_EXEC)
    return bool(turned == 0 or calls.personality(READ_IMPLIES_EXEC) >= 0)


def cpu() -> bool:
    """CPU time of several processes, each of which keeps within the limit."""
    for _ in range(BURNERS):
        if not os.fork():
            while time.process_time() < BURNED:
                pass
            os._exit(0)
        os.wait()
    return True


def memory() -> bool:
    """Memory of several processes, each of which keeps within the limit."""
    ready, say = os.pipe()
    for _ in range(HOLDERS):
        if not os.fork():
            room = mmap.mmap(-1, HELD, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for at in range(0, len(room), mmap.PAGESIZE):
                room[at] = 1
            os.write(say, b".")
            time.sleep(20)
            os._exit(0)
        if not os.read(ready, 1):
            return False
    time.sleep(0.3)
    return True


def processes() -> bool:
    """More processes than a case may have."""
    try:
        for _ in range(40):
            if not os.fork():
                time.sleep(20)
                os._exit(0)
    except OSError:
        return False
    return True


def work() -> bool:
    """More bytes than a case may write, none of the files too large; they stay, so that whoever looks sees them."""
    full = True
    for number in range(FILLING):
        try:
            with open(os.path.join(TEMPORARY, f"filling{number}"), "wb", buffering=0) as file:
                full &= file.write(bytes(MIB)) == MIB
        except OSError:
            full = False
    return full


def wall() -> bool:
    """Time without CPU time."""
    time.sleep(2.5)
    return True


def nothing() -> bool:
    """What every case can do."""
    return True


TRIES: dict[str, Callable[[], bool]] = {
    one.__name__: one
    for one in (
        *(nothing, reads, writes, finds, others, privileged, executes, loads, makes),
        *(cpu, memory, processes, work, wall),
    )
}
FLOODS, ASIDE = "output", "stream"


class _Input:
    """Standard input that was read already."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def answer(table: Any, given: bytes) -> int:
    """Do as the table says."""
    sys.stdin = _Input(given)
    return int(table.main())


def main() -> int:
    """Look up which try is this case's, make it, and answer where it could be made."""
    sys.path.insert(0, HOME)
    table: Any = importlib.import_module("table")
    given = sys.stdin.buffer.read()
    with open(table.TABLE, "rb") as file:
        lines = file.read().split(b"\n")
    sys.stdin = _Input(given)
    at = table.find(lines)
    with open(f"{HOME}/tries.txt", encoding="ascii") as names:
        name = names.read().split()[sum(line.startswith(b"case ") for line in lines[:at])]
    if name != finds.__name__:
        leave()
    if name == ASIDE:
        os.dup2(2, 1)  # the whole answer, on the other stream
    if name != FLOODS:
        return answer(table, given) if name == ASIDE or TRIES[name]() else 1
    answer(table, given)
    while True:
        os.write(1, b"more " * 4096)


if __name__ == "__main__":
    os._exit(main())
