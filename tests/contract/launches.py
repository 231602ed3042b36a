"""Requests and answers that the contract tests share."""

from __future__ import annotations

from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.model import Limits

PYTHON = "/usr/bin/python3"
ENV = ((b"PATH", b"/usr/bin:/bin"), (b"LANG", b"C.UTF-8"))
INITS = ("c", "python")


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
