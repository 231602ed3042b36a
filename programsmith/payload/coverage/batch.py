"""Run a program on many cases in one launch: `batch.py HOW ROOT PROGRAM`, the request on stdin.

HOW is `script`, for a Python script that runs in a fork of this interpreter, so that a start costs none, or `program`,
for an executable. The request is `{trace, name, hook, cases: [{argv, env, stdin, files, cpu, wall, memory, output}]}`,
byte strings as base64. For each case one JSON line comes out: `{exit_code, signal, overrun, stdout, stderr, files,
lines}`. Each case has the working directory to itself, which is emptied after it, and streams and limits of its own;
what a case leaves running is killed. With `trace`, `lines` lists `path:line` of the Python code below ROOT that ran; of
a program, what it writes to descriptor 200 with the environment that `hook` adds. Good for measuring a program, never
for grading one: a case can reach this process.
"""

from __future__ import annotations

import atexit
import binascii
import contextlib
import fcntl
import gc
import json
import os
import resource
import selectors
import shutil
import signal
import stat
import sys
import time
from types import CodeType, FrameType
from typing import Any

CHUNK = 65536
KEPT = 200  # the descriptor through which a traced script tells its lines
LINES_BYTES = 64 << 20
UNSTARTED = 70
OVERRUNS = (signal.SIGPROF, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGKILL)


class Batch:
    """What one request starts, and how."""

    def __init__(self, how: str, root: str, program: str, request: dict[str, Any]) -> None:
        self._root = root.rstrip("/")
        self._program = program
        self._name = unb64(request["name"])
        self._trace = bool(request["trace"])
        self._hook = {unb64(name): unb64(value) for name, value in request.get("hook", ())} if self._trace else {}
        self._code: CodeType | None = None
        if how == "script":
            with open(program, "rb") as file:
                self._code = compile(file.read(), program, "exec")
            sys.path[0] = os.path.dirname(program)

    def run(self, case: dict[str, Any]) -> dict[str, Any]:
        """Fork, run, and tell what came out."""
        lay(case["files"])
        source = os.pipe()
        caps = {"stdout": case["output"], "stderr": case["output"], "lines": LINES_BYTES}
        pipes = {name: os.pipe() for name in caps}
        pid = os.fork()
        if pid == 0:
            self._become(case, [source[0], *(into for _, into in pipes.values())])
        os.close(source[0])
        for _, into in pipes.values():
            os.close(into)
        pump = Pump(pid, source[1], unb64(case["stdin"]), {out: caps[name] for name, (out, _) in pipes.items()})
        status = pump.run(case["wall"])
        signalled = os.WIFSIGNALED(status)
        told = {
            "exit_code": None if signalled else os.WEXITSTATUS(status),
            "signal": os.WTERMSIG(status) if signalled else None,
            "overrun": pump.over or (signalled and os.WTERMSIG(status) in OVERRUNS),
            "stdout": b64(pump.got[pipes["stdout"][0]]),
            "stderr": b64(pump.got[pipes["stderr"][0]]),
            "lines": pump.got[pipes["lines"][0]].decode("ascii").split(),
            "files": list(left()),
        }
        wipe()
        return told

    def _become(self, case: dict[str, Any], ends: list[int]) -> None:
        """Turn a fork into the case's process. Never returns."""
        status = UNSTARTED
        try:
            os.setsid()
            lines = fcntl.fcntl(ends.pop(), fcntl.F_DUPFD_CLOEXEC, KEPT)
            for number, end_of in enumerate(ends):
                os.dup2(end_of, number)
            os.closerange(3, KEPT)
            os.environb.clear()
            os.environb.update({unb64(name): unb64(value) for name, value in case["env"]})
            limit(case)
            argv = [unb64(word) for word in case["argv"]]
            if self._code:
                if self._trace:
                    trace(self._root, lines)
                sys.argv = [self._program, *map(os.fsdecode, argv)]
                status = end(self._code, self._program)
            else:
                os.environb.update(self._hook)
                os.set_inheritable(lines, bool(self._hook))
                signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # an interpreter ignores both, which a program inherits
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
                os.execve(self._program, [self._name, *argv], os.environb)  # noqa: S606
        finally:
            os._exit(status)


class Pump:
    """Feed a process and read what it writes until it ends, or overruns and is killed. `got` is by descriptor."""

    def __init__(self, pid: int, into: int, data: bytes, caps: dict[int, int]) -> None:
        self._pid = pid
        self._into = into
        self._rest = memoryview(data)
        self._caps = caps
        self._events = selectors.DefaultSelector()
        self.got = {out: bytearray() for out in caps}
        self.over = False

    def run(self, wall: float) -> int:
        """The wait status. `over` is set where the wall time or a cap was passed."""
        ended = os.pidfd_open(self._pid)
        self._events.register(ended, selectors.EVENT_READ)
        self._events.register(self._into, selectors.EVENT_WRITE)
        for out in self._caps:
            os.set_blocking(out, False)
            self._events.register(out, selectors.EVENT_READ)
        os.set_blocking(self._into, False)
        self._until(ended, time.monotonic() + wall)
        self._kill()
        _, status = os.waitpid(self._pid, 0)
        for out in self._caps:
            while self._read(out):
                pass
        self._events.close()
        for number in (ended, self._into, *self._caps):
            with contextlib.suppress(OSError):
                os.close(number)
        return status

    def _until(self, ended: int, deadline: float) -> None:
        while not self.over:
            ready = [key.fd for key, _ in self._events.select(max(0.0, deadline - time.monotonic()))]
            self.over = not ready
            for number in ready:
                if number == self._into:
                    self._write()
                elif number in self._caps and not self._read(number):
                    self._events.unregister(number)
            if ended in ready:
                return

    def _kill(self) -> None:
        """End the process, if it has not ended, and what it left behind in its group."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self._pid, signal.SIGKILL)

    def _write(self) -> None:
        try:
            self._rest = self._rest[os.write(self._into, self._rest[:CHUNK]) :] if self._rest else self._rest
        except OSError:
            self._rest = self._rest[:0]
        if not self._rest:
            self._events.unregister(self._into)
            os.close(self._into)
            self._into = -1

    def _read(self, out: int) -> bool:
        """Whether there was anything."""
        try:
            data = os.read(out, CHUNK)
        except BlockingIOError:
            return False
        room = self._caps[out] - len(self.got[out])
        self.got[out] += data[:room]
        self.over = self.over or len(data) > room
        return bool(data)


def limit(case: dict[str, Any]) -> None:
    """Bound this process: CPU time, memory, what one file may hold."""
    most = {
        resource.RLIMIT_CPU: int(case["cpu"]) + 2,  # coarse: for a program that takes the timer over
        resource.RLIMIT_DATA: case["memory"],  # what it can write: address space that a runtime only reserves is free
        resource.RLIMIT_FSIZE: case["memory"],
        resource.RLIMIT_CORE: 0,
    }
    for what, bound in most.items():
        hard = resource.getrlimit(what)[1]
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (least, least))
    signal.setitimer(signal.ITIMER_PROF, case["cpu"])


def end(code: CodeType, script: str) -> int:
    """Run the script and end as the interpreter would, short of freeing memory, which costs more than the run."""
    status = 0
    try:
        exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})  # noqa: S102
    except SystemExit as stop:
        if isinstance(stop.code, int):
            status = stop.code & 0xFF
        elif stop.code is not None:
            print(stop.code, file=sys.stderr)
            status = 1
    except BaseException:  # noqa: BLE001 - whatever the script raises ends it, with a traceback
        sys.excepthook(*sys.exc_info())
        status = 1
    if threading := sys.modules.get("threading"):
        threading._shutdown()  # noqa: SLF001 - joins what the interpreter would join
    atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter calls
    try:
        sys.stdout.flush()
    except OSError:
        status = 120
    return status


def trace(root: str, into: int) -> None:
    """Collect the lines of code below `root` that are executed from now on; written at exit."""
    seen: set[tuple[str, int]] = set()

    def local(frame: FrameType, event: str, _value: object) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def start(frame: FrameType, _event: str, _value: object) -> Any:
        return local if frame.f_code.co_filename.startswith(root + "/") else None

    def write() -> None:
        sys.settrace(None)
        told = (f"{b64(os.fsencode(path[len(root) + 1 :]))}:{line}" for path, line in sorted(seen))
        with open(into, "w", encoding="ascii", closefd=False) as file:
            file.write("\n".join(told))

    import threading

    atexit.register(write)
    threading.settrace(start)
    sys.settrace(start)


def lay(files: list[dict[str, Any]]) -> None:
    """Lay a case's files down in the working directory."""
    for entry in files:
        path = unb64(entry["path"])
        os.makedirs(os.path.dirname(path) or b".", exist_ok=True)
        if entry["kind"] == "dir":
            os.makedirs(path, exist_ok=True)
        elif entry["kind"] == "link":
            os.symlink(unb64(entry["content"]), path)
            continue
        else:
            with open(path, "wb") as file:
                file.write(unb64(entry["content"]))
        os.chmod(path, entry["mode"])


def left() -> Any:
    """What lies in the working directory. What is no file, directory or link counts as an empty file."""
    for at, folders, names in os.walk(b"."):
        for name in sorted(folders + names):
            path = os.path.join(at, name)
            mode = os.lstat(path).st_mode
            link, is_dir = stat.S_ISLNK(mode), stat.S_ISDIR(mode)
            kind = "link" if link else "dir" if is_dir else "file"
            content = os.readlink(path) if link else read(path) if stat.S_ISREG(mode) else b""
            kept = 0o777 if link else stat.S_IMODE(mode)
            yield {"path": b64(os.path.relpath(path, b".")), "kind": kind, "mode": kept, "content": b64(content)}


def read(path: bytes) -> bytes:
    """A file's bytes; none where it may not be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def wipe() -> None:
    """Empty the working directory, whatever modes a case gave to what lies in it."""
    for at, folders, _ in os.walk(b"."):
        for name in folders:
            path = os.path.join(at, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    for entry in list(os.scandir(b".")):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def b64(data: bytes | bytearray) -> str:
    """Base64 text."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def unb64(text: str) -> bytes:
    """Bytes of base64 text."""
    return binascii.a2b_base64(text)


def main(argv: list[str]) -> None:
    """Answer one request."""
    how, root, program = argv[1:]
    request = json.load(sys.stdin.buffer)
    batch = Batch(how, root, program, request)
    answers = os.dup(1)
    gc.freeze()  # a fork's collector must not touch, and so copy, what is shared
    for case in request["cases"]:
        told = json.dumps(batch.run(case)).encode("ascii") + b"\n"
        while told:
            told = told[os.write(answers, told) :]


if __name__ == "__main__":
    main(sys.argv)
