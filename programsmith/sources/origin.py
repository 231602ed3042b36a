"""What every kind of source hands over: raw entries, what names them, and the "no" that becomes an outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from programsmith.payload.verifier.model import FileEntry


class RefusedError(Exception):
    """A source that cannot become an environment: ingest's `reject`. `rule` is a closed short name of the reason."""

    def __init__(self, rule: str, reason: str, **evidence: Any) -> None:
        super().__init__(reason)
        self.rule = rule
        self.reason = reason
        self.evidence = evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What a source may hold: entries, bytes in total, bytes of one file, seconds for one transfer."""

    files: int
    bytes: int
    file_bytes: int
    archive_ratio: int
    fetch_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A source as it was found, before the rules of `export` settle it.

    `modules` maps the path of a gitlink to its pinned commit. `names` are what the project may be called; `owner` is
    the `owner/name` of a public forge where one is known. `commit` is a commit id, an archive's SHA-256, or empty.
    `tag` is the tag that was asked for, or empty.
    """

    label: str  # URL, archive name or path as the spec gives it
    commit: str
    entries: tuple[FileEntry, ...]
    modules: dict[bytes, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    owner: str | None = None
    tag: str = ""
    notes: tuple[str, ...] = ()


def show(path: bytes) -> str:
    """A path for a person: UTF-8 where it is, the other bytes escaped, never a control character."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def show_some(paths: list[bytes], most: int = 5) -> str:
    """Several paths in one line, the number of those left out behind them."""
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(show(p) for p in paths[:most]) + more


class Meter:
    """Counts entries and bytes of a source against its caps while it is read. Raises RefusedError `too_large`."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._files = 0
        self._bytes = 0

    def add(self, path: bytes, size: int) -> None:
        """Count one entry of `size` bytes, before its content is read."""
        self._files += 1
        self._bytes += size
        if size > self._caps.file_bytes:
            raise RefusedError("too_large", f"{show(path)} has {size} bytes, the limit is {self._caps.file_bytes}")
        if self._files > self._caps.files:
            raise RefusedError("too_large", f"more than {self._caps.files} files")
        if self._bytes > self._caps.bytes:
            raise RefusedError("too_large", f"more than {self._caps.bytes} bytes in all")
