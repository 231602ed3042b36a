"""Run a Python script under a line tracer: `trace.py OUT ROOT SCRIPT ARGS…`.

OUT gets one `path:line` per executed line of the files below ROOT (paths relative to it). The script sees itself as
the main program; its exit status is kept.
"""

from __future__ import annotations

import atexit
import sys
import threading
from types import CodeType, FrameType
from typing import Any

Lines = set[tuple[str, int]]


def tracer(root: str, seen: Lines) -> Any:
    """A global trace function that adds (file, line) of code below `root` to `seen`."""

    def local(frame: FrameType, event: str, _value: object) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def start(frame: FrameType, _event: str, _value: object) -> Any:
        if not frame.f_code.co_filename.startswith(root):
            return None
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    return start


def write(out: str, root: str, seen: Lines) -> None:
    """Write what was seen."""
    sys.settrace(None)
    with open(out, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(f"{path[len(root) :]}:{line}\n" for path, line in sorted(seen))


def main(argv: list[str]) -> None:
    """Trace one script."""
    out, root, script = argv[1:4]
    root = root.rstrip("/") + "/"
    seen: Lines = set()
    with open(script, "rb") as file:
        code: CodeType = compile(file.read(), script, "exec")
    sys.argv = argv[3:]
    sys.path[0] = script.rpartition("/")[0]
    atexit.register(write, out, root, seen)
    start = tracer(root, seen)
    threading.settrace(start)
    sys.settrace(start)
    exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})  # noqa: S102


if __name__ == "__main__":
    main(sys.argv)
