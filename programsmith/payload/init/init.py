"""The Python twin of init.c, for hosts without a C compiler: same arguments, same wires, same order of steps.

It runs on an interpreter of its own that it detaches before the program starts; whatever it needs is imported first.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import signal
import struct
import sys

from programsmith.payload.init import calls
from programsmith.payload.init.calls import FOLDER, Status, call, fail, libc, mount, system
from programsmith.payload.init.fence import fence_files
from programsmith.payload.init.request import Request
from programsmith.payload.init.walk import collect
from programsmith.payload.init.watch import PATIENCE, Watch, end_all, supervise

TYPE_CHECKING = False  # importing typing costs a tenth of a launch
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

LAID = (1577836800 * 10**9,) * 2  # the one time of all entries that are laid down


def mount_writable(r: Request) -> None:
    """One sized tmpfs for the work directory, /tmp and /dev/shm."""
    flags = calls.MS_NOSUID | calls.MS_NODEV | (0 if r.has(calls.EXEC_WORK) else calls.MS_NOEXEC)
    options = f"size={r.number['work_bytes']},nr_inodes={r.number['work_files'] + 4},mode=0755"
    call("work tmpfs", mount(b"tmpfs", b"tmpfs", r.hidden, flags, options.encode()))
    for name, target in ((b"work", r.work), (b"tmp", b"/tmp"), (b"shm", b"/dev/shm")):
        source = r.hidden + b"/" + name
        os.mkdir(source)
        os.chmod(source, 0o755 if name == b"work" else 0o1777)
        kept = r.has({b"work": calls.WORKSPACE, b"tmp": calls.KEEP_TMP}.get(name, 0))
        if not kept:
            call("bind of the work tmpfs", mount(b"", source, target, calls.MS_BIND, None))
    call("work tmpfs", libc.umount2(r.hidden, calls.MNT_DETACH))


def show_terminals(r: Request) -> None:
    """Terminals of the launch's own, where it is a sandbox: an agent in it may open one. A host may refuse."""
    if r.has(calls.WORKSPACE):
        options = b"newinstance,ptmxmode=0666,mode=0620,max=64"
        mount(b"devpts", b"devpts", b"/dev/pts", calls.MS_NOSUID | calls.MS_NOEXEC, options)


def raise_oom_score() -> None:
    """Whatever this process starts is the first that the kernel kills for memory."""
    with open("/proc/self/oom_score_adj", "wb", 0) as score:
        score.write(b"1000")


def show_proc() -> None:
    """A proc without other users' processes and without anything about the host, as far as this kernel can.

    In the end it is read-only: what a program writes to its own memory there needs no leave of what it overwrites.
    """
    flags = calls.MS_NOSUID | calls.MS_NODEV | calls.MS_NOEXEC
    if mount(b"proc", b"proc", b"/proc", flags, b"hidepid=2,subset=pid") < 0:
        mount(b"proc", b"proc", b"/proc", flags, b"hidepid=2")
    raise_oom_score()
    call("/proc", mount(b"", None, b"/proc", flags | calls.REMOUNTED | calls.MS_RDONLY, None))


def close_scripts(r: Request) -> None:
    """Of a tree of scripts nothing is executed or mapped as code but what may be executed by its name."""
    flags = calls.REMOUNTED | calls.MS_NOSUID | calls.MS_NODEV | calls.MS_NOEXEC
    for rights, tree in r.paths:
        if rights & calls.SCRIPTS:
            read_only = calls.MS_RDONLY if os.statvfs(tree).f_flag & os.ST_RDONLY else 0
            for one, path in r.paths:
                if one & calls.MAY_EXECUTE and path.startswith(tree + b"/"):
                    call("script", mount(b"", path, path, calls.MS_BIND, None))
            call("scripts", mount(b"", None, tree, flags | read_only, None))


def lay_files(r: Request) -> None:
    """Lay the case's files down; modes of directories and all times come last."""
    os.umask(0)
    work = os.open(r.work, FOLDER)
    for kind, mode, path, content in r.files:
        lay_one(work, path, kind, mode, content)
    for _, _, path, _ in r.files:
        os.utime(path, ns=LAID, dir_fd=work, follow_symlinks=False)
    for kind, mode, path, _ in sorted(
        r.files, key=lambda entry: -len(entry[2])
    ):  # one that gets shut shuts nothing out
        if kind == 1:
            os.chmod(path, mode, dir_fd=work)
    os.utime(work, ns=LAID)
    os.close(work)


def lay_one(work: int, path: bytes, kind: int, mode: int, content: bytes) -> None:
    """Lay one entry and the directories above it."""
    parts = path.split(b"/")
    folders = [b"/".join(parts[:n]) for n in range(1, len(parts) + (kind == 1))]
    for folder in folders:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o755, dir_fd=work)
    if kind == 2:  # noqa: PLR2004 - link
        os.symlink(content, path, dir_fd=work)
    elif kind == 0:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=work)
        with open(fd, "wb") as out:
            out.write(content)
            out.flush()
            os.fchmod(fd, mode)


def set_capabilities(keep: int) -> None:
    """Keep only these capabilities."""
    head = struct.pack("<Ii", calls.CAP_VERSION, 0)
    call("capabilities", system(calls.CAPSET, head, struct.pack("<6I", keep, keep, 0, 0, 0, 0)))


def drop_bounding_set() -> None:
    """No executed file may give a capability back."""
    for number in range(64):
        if libc.prctl(calls.PR_CAPBSET_READ, number, 0, 0, 0) == 1:
            call("bounding set", libc.prctl(calls.PR_CAPBSET_DROP, number, 0, 0, 0))


def filter_calls(r: Request) -> None:
    """Install the system call filter."""
    code = ctypes.create_string_buffer(r.filter, len(r.filter))
    program = struct.pack("HxxxxxxP", len(r.filter) // 8, ctypes.addressof(code))
    call("seccomp", libc.prctl(calls.PR_SET_SECCOMP, 2, program, 0, 0))


def set_limits(r: Request) -> None:
    """Set resource limits, never above what is allowed already."""
    for number, soft, wanted in r.limits:
        _, most = resource.getrlimit(number)
        hard = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(number, (min(soft, hard), hard))


def reset_signals() -> None:
    """Default dispositions, nothing blocked."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def run_program(r: Request, go: int, failed: int) -> NoReturn:
    """The child: wait for the word, give everything up, execute."""
    try:
        os.setsid()
        os.chdir(r.cwd)
        os.umask(r.number["umask"])
        if r.has(calls.ONE_CPU):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.read(go, 1)
        for fd in map(int, os.listdir("/proc/self/fd")):
            with contextlib.suppress(OSError):
                os.set_inheritable(fd, fd < 3)  # noqa: PLR2004 - the standard streams
        set_limits(r)
        if r.has(calls.FENCE_EXEC | calls.FENCE_FILES):
            fence_files(r)
        set_capabilities(0)
        reset_signals()
        filter_calls(r)
    except OSError as error:
        fail("start", error)
    try:
        os.execve(r.program, r.argv, r.env)  # noqa: S606 - starting it is what this is for
    except OSError as error:
        os.write(failed, struct.pack("<i", error.errno or 0))
    os._exit(127)


def start_program(r: Request, become: Callable[[], None] | None = None) -> int:
    """Start the program, which may `become` another user first; its id once it is executed, 0 where that failed."""
    if r.has(calls.TURN_CLOCK):
        fail("clock", OSError(errno.ENOSYS, "this init cannot turn it"))
    go, failed = os.pipe(), os.pipe()
    program = os.fork()
    if program == 0:
        os.close(go[1])
        if become:
            become()
        run_program(r, go[0], failed[1])
    call("dumpable", libc.prctl(calls.PR_SET_DUMPABLE, 0, 0, 0, 0))
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    for fd in (failed[1], *go):
        os.close(fd)
    why = os.read(failed[0], 4)
    Status.say(b"E" if why else b"S", struct.pack("<Q", *struct.unpack("<i", why)) if why else b"")
    return 0 if why else program


def prepare(r: Request) -> None:
    """Mounts, files, privileges."""
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    call("parent death signal", libc.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    call("no new privileges", libc.prctl(calls.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    call("hiding the init", libc.umount2(r.hidden, calls.MNT_DETACH))
    try:
        mount_writable(r)
        show_terminals(r)
        close_scripts(r)
        show_proc()
        lay_files(r)
    except OSError as error:
        fail("work directory", error)
    drop_bounding_set()
    set_capabilities(1 << calls.CAP_DAC_READ_SEARCH | 1 << calls.CAP_SYS_PTRACE)


def enter(words: list[str]) -> NoReturn:
    """`UID GID [join FILE - | stage FROM TO]... -- COMMAND...`: become an ordinary user outside, as root."""
    end = words.index("--")
    steps, alone = words[2:end], False
    for kind, first, second in zip(steps[::3], steps[1::3], steps[2::3], strict=True):
        if kind == "join":
            with open(first, "wb", 0) as group:
                group.write(b"0")
            continue
        if not alone:
            call("mount namespace", libc.unshare(calls.CLONE_NEWNS))
            call("mount namespace", mount(b"", None, b"/", calls.MS_REC | calls.MS_PRIVATE, None))
        alone = True
        call(f"stage {first}", mount(b"", os.fsencode(first), os.fsencode(second), calls.MS_BIND | calls.MS_REC, None))
    os.setgroups([])
    os.setresgid(*[int(words[1])] * 3)
    os.setresuid(*[int(words[0])] * 3)
    os.execv(words[end + 1], words[end + 1 :])  # noqa: S606 - starting it is what this is for


def main() -> int:
    """Run one launch."""
    if sys.argv[1] == "enter":
        Status.fd = 2
        enter(sys.argv[2:])
    request_fd, Status.fd = map(int, sys.argv[1:])
    os.set_inheritable(Status.fd, False)
    request = Request(request_fd)
    proc = os.open("/proc", FOLDER)
    prepare(request)
    program = start_program(request)
    if program:
        patience = PATIENCE if request.has(calls.WORKSPACE) else 0
        watch = Watch(proc, request.number["memory"], request.number["shared"], patience=patience)
        supervise(request, program, watch)
        if request.has(calls.COLLECT):
            collect(request)
    else:
        end_all()
    Status.say(b"Z")
    return 0


if __name__ == "__main__":
    sys.exit(main())
