"""Run a Python script on many cases in one interpreter: `batch.py ROOT SCRIPT`, the request on stdin.

The request is `{trace, cases: [{argv, env, stdin, files, cpu, wall}]}`, byte strings as base64. For each case one JSON
line comes out: `{exit_code, signal, stdout, stderr, files, lines}`. Each case runs in a fork of this process with a
directory, streams and limits of its own, so a start costs no interpreter. With `trace`, `lines` lists `path:line` of
the code below ROOT that the case executed. Good for measuring a program, never for grading one.
"""

from __future__ import annotations

import atexit
import binascii
import gc
import json
import os
import resource
import signal
import sys
from types import CodeType, FrameType
from typing import Any

PIPE_BYTES = 65536  # what a pipe takes before anyone reads
STREAMS = ("stdout", "stderr", "lines")


def run_case(case: dict[str, Any], number: int, code: CodeType, script: str, root: str | None) -> dict[str, Any]:
    """Fork, run, and tell what came out."""
    folder, side = os.path.abspath(f"case{number}"), os.path.abspath(f"streams{number}")
    os.makedirs(folder)
    os.makedirs(side)
    lay(case["files"], folder)
    source = feed(unb64(case["stdin"]), side)
    pid = os.fork()
    if pid == 0:
        become(case, folder, side, source)
        if root:
            trace(root, f"{side}/lines")
        sys.argv = [script, *(os.fsdecode(unb64(a)) for a in case["argv"])]
        os._exit(end(code, script))
    os.close(source)
    _, status = os.waitpid(pid, 0)
    signalled = os.WIFSIGNALED(status)
    told = {name: read(f"{side}/{name}") for name in STREAMS}
    return {
        "exit_code": None if signalled else os.WEXITSTATUS(status),
        "signal": os.WTERMSIG(status) if signalled else None,
        "stdout": b64(told["stdout"]),
        "stderr": b64(told["stderr"]),
        "lines": told["lines"].decode("ascii").split(),
        "files": list(left(folder)),
    }


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


def become(case: dict[str, Any], folder: str, side: str, source: int) -> None:
    """Turn a fork into the case's process."""
    os.dup2(source, 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        made = os.open(f"{side}/{name}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(made, number)
        os.close(made)
    os.closerange(3, 64)
    os.chdir(folder)
    os.environb.clear()
    for name, value in case["env"]:
        os.environb[unb64(name)] = unb64(value)
    seconds = max(1, round(case["cpu"] + 0.5))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    signal.setitimer(signal.ITIMER_REAL, case["wall"])


def feed(data: bytes, side: str) -> int:
    """A descriptor to read `data` from: a pipe, as for every case, or a file where a pipe would not take it all."""
    if len(data) <= PIPE_BYTES:
        out, into = os.pipe()
        os.write(into, data)
        os.close(into)
        return out
    with open(f"{side}/stdin", "wb") as file:
        file.write(data)
    return os.open(f"{side}/stdin", os.O_RDONLY)


def trace(root: str, out: str) -> None:
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
        text = "\n".join(f"{b64(os.fsencode(path[len(root) + 1 :]))}:{line}" for path, line in sorted(seen))
        with open(out, "w", encoding="ascii") as file:
            file.write(text)

    import threading

    atexit.register(write)
    threading.settrace(start)
    sys.settrace(start)


def lay(files: list[dict[str, Any]], folder: str) -> None:
    """Lay a case's files down."""
    for entry in files:
        path = os.path.join(os.fsencode(folder), unb64(entry["path"]))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if entry["kind"] == "dir":
            os.makedirs(path, exist_ok=True)
        elif entry["kind"] == "link":
            os.symlink(unb64(entry["content"]), path)
            continue
        else:
            with open(path, "wb") as file:
                file.write(unb64(entry["content"]))
        os.chmod(path, entry["mode"])


def left(folder: str) -> Any:
    """What lies in the work directory afterwards."""
    top = os.fsencode(folder)
    for at, folders, names in os.walk(top):
        for name in sorted(folders + names):
            path = os.path.join(at, name)
            link, is_dir = os.path.islink(path), os.path.isdir(path)
            kind = "link" if link else "dir" if is_dir else "file"
            content = os.readlink(path) if link else b"" if is_dir else read(path)
            mode = 0o777 if link else os.lstat(path).st_mode & 0o7777
            yield {"path": b64(os.path.relpath(path, top)), "kind": kind, "mode": mode, "content": b64(content)}


def read(path: str | bytes) -> bytes:
    """A file's bytes; empty where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def b64(data: bytes) -> str:
    """Base64 text."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def unb64(text: str) -> bytes:
    """Bytes of base64 text."""
    return binascii.a2b_base64(text)


def main(argv: list[str]) -> None:
    """Answer one request."""
    root, script = argv[1].rstrip("/"), argv[2]
    request = json.load(sys.stdin.buffer)
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    sys.path[0] = os.path.dirname(script)
    answers = os.dup(1)
    gc.freeze()  # a fork's collector must not touch, and so copy, what is shared
    for number, case in enumerate(request["cases"]):
        result = run_case(case, number, code, script, root if request["trace"] else None)
        os.write(answers, json.dumps(result).encode("ascii") + b"\n")


if __name__ == "__main__":
    main(sys.argv)
