"""Requests and answers that the contract tests share."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from programsmith.payload.verifier.launcher import Launcher, Request, Result
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.payload.verifier.model import Limits
from tests.contract import contained

PYTHON = "/usr/bin/python3"
ENV = ((b"PATH", b"/usr/bin:/bin"), (b"LANG", b"C.UTF-8"))
OVER_BWRAP = ("c", "python")  # by the language of the init
WAYS = contained.WAYS if contained.is_inside() else ("compiled", *OVER_BWRAP)
EXITS = (0, 1, 126, 127)  # what a golden could expect of a program that a sick host never started


def limits(**changes: float) -> Limits:
    """Small limits that a test changes by name."""
    usual = {
        "cpu_seconds": 10.0,
        "wall_seconds": 30.0,
        "memory_bytes": 256 << 20,
        "pids": 16,
        "output_bytes": 1 << 20,
        "work_bytes": 32 << 20,
        "work_files": 300,
    }
    return Limits(**{**usual, **changes})  # type: ignore[arg-type]


def case(code: str, *words: bytes, **changes: object) -> Request:
    """A launch of Python code; `changes` are fields of the request."""
    fields = {"program": PYTHON, "argv": (b"python3", b"-I", b"-c", code.encode(), *words), "env": ENV}
    return Request(**{"limits": limits(), **fields, **changes})  # type: ignore[arg-type]


def ended(result: Result, code: int = 0) -> bytes:
    """Stdout of a case that ended by itself with `code`."""
    assert result.fault is None, result.fault
    assert (result.started, result.exit_code, result.limits_hit) == (True, code, frozenset()), result
    return result.stdout


def undisturbed(launcher: Launcher, request: Request) -> Result:
    """A launch that is not taken back: others, whom no group tells from it, may come to share more memory meanwhile."""
    for _ in range(60):
        result = launcher.run(request)
        if "memory that others share" not in (result.fault or ""):
            break
        time.sleep(0.5)
    return result


def launched(config: dict[str, Any], code: str = "pass", **changes: object) -> Result:
    """One launch by a launcher of its own."""
    launcher = bubblewrap(config)
    try:
        return launcher.run(case(code, **changes))
    finally:
        launcher.close()


def proves_nothing(result: Result) -> None:
    """A fault, and nothing that could be taken for a result."""
    assert result.fault
    assert (result.started, result.exit_code, result.signal, result.files) == (False, None, None, None)


def script(place: Path, text: str) -> str:
    """An executable of ours in the place of a real one; its path."""
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    place.write_text("#!/bin/sh\n" + text)
    place.chmod(0o755)
    return str(place)


def killed(config: dict[str, Any], victims: Callable[[], list[int]]) -> Result:
    """A long launch whose `victims` are killed from outside."""
    results: list[Result] = []
    worker = threading.Thread(target=lambda: results.append(launched(config, "import time; time.sleep(20)")))
    worker.start()
    deadline = time.monotonic() + 15
    while worker.is_alive() and time.monotonic() < deadline:
        time.sleep(0.3)
        for pid in victims():
            os.kill(pid, signal.SIGKILL)
    worker.join()
    return results[0]


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 15
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def below(word: str) -> list[int]:
    """Processes below this one whose command line begins with `word`, parents first."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().split(b"\0")[0] == os.fsencode(word) and _is_below(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return sorted(found)


def _is_below(pid: int) -> bool:
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid == os.getpid():
            return True
    return False
