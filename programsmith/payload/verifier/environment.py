"""The environment of every case, of the oracle and of a submission alike, and the places inside a sandbox."""

from __future__ import annotations

from collections.abc import Iterable

WORK = "/work"
ORACLE = "/opt/oracle"
SUBMISSION = "/app/submission"
EXECUTABLE = "executable"
COMPILE = "compile.sh"

BASE_ENV: tuple[tuple[bytes, bytes], ...] = (
    (b"PATH", b"/usr/bin:/bin"),
    (b"HOME", WORK.encode()),
    (b"USER", b"user"),
    (b"LOGNAME", b"user"),
    (b"LANG", b"C.UTF-8"),
    (b"LC_ALL", b"C.UTF-8"),
    (b"TZ", b"UTC"),
    (b"TERM", b"dumb"),
    (b"COLUMNS", b"80"),
    (b"LINES", b"24"),
    (b"PYTHONHASHSEED", b"0"),
    (b"PYTHONDONTWRITEBYTECODE", b"1"),
)


def case_env(own: Iterable[tuple[bytes, bytes]] = ()) -> tuple[tuple[bytes, bytes], ...]:
    """The whole environment of a case: the base, with the case's `own` variables put on top."""
    return tuple({**dict(BASE_ENV), **dict(own)}.items())
