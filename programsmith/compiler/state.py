"""What doit remembers of tasks that succeeded: one SQLite file per spec, each task committed when it is finished.

In: doit's backend calls (`set`, `get`, `remove` by task name). Out: cache/<name>/.doit.db. A file that is no database
is dropped: all that it could say is that work need not be repeated.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

LAST_KEY = "deps:"  # what doit sets last when it saves a task
PATIENCE_SECONDS = 60.0


class Codec(Protocol):
    """doit's JSON codec."""

    def encode(self, value: Any) -> str:
        """Text of a value."""

    def decode(self, text: str) -> Any:
        """Value of a text."""


class Database:
    """Backend for the tasks of one spec. The file need not exist: the first task that is saved makes it."""

    desc = "SQLite, one commit per task"

    def __init__(self, name: str, codec: Codec, *, module_name: str | None = None) -> None:
        del module_name
        self.name = name
        self._codec = codec
        self._connection: sqlite3.Connection | None = None
        self._rows: dict[str, dict[str, Any]] = self._read() if Path(name).exists() else {}

    def get(self, task: str, key: str) -> Any:
        """The value saved for a task under a key, None where there is none."""
        return self._rows.get(task, {}).get(key)

    def set(self, task: str, key: str, value: Any) -> None:
        """Keep a value; a task's values are committed with its last one."""
        self._rows.setdefault(task, {})[key] = value
        if key == LAST_KEY:
            row = task, self._codec.encode(self._rows[task])
            with _full_disk(self.name):
                self._connect().execute("insert or replace into task values (?, ?)", row)

    def in_(self, task: str) -> bool:
        """Whether anything is known of a task."""
        return task in self._rows

    def remove(self, task: str) -> None:
        """Forget a task."""
        if self._rows.pop(task, None) is not None:
            self._connect().execute("delete from task where name = ?", (task,))

    def remove_all(self) -> None:
        """Forget every task."""
        for task in list(self._rows):
            self.remove(task)

    def dump(self) -> None:
        """Close: everything finished is committed already."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            Path(self.name).parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.name, timeout=PATIENCE_SECONDS, isolation_level=None)
            connection.execute("create table if not exists task (name text primary key, saved text) without rowid")
            self._connection = connection
        return self._connection

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            rows = self._connect().execute("select name, saved from task").fetchall()
            return {name: self._codec.decode(saved) for name, saved in rows}
        except (sqlite3.DatabaseError, ValueError) as fault:
            self.dump()
            if isinstance(fault, sqlite3.OperationalError):
                raise
            Path(self.name).unlink()
            return {}


@contextmanager
def _full_disk(name: str) -> Iterator[None]:
    """SQLite's word for a full disk as the system's own."""
    try:
        yield
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode != sqlite3.SQLITE_FULL:
            raise
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name) from fault


class Databases:
    """Backend for the tasks of many specs below one cache folder: `tally:r0:create` is kept in cache/tally/.doit.db.

    Tasks that are no spec's are kept in cache/.doit.db.
    """

    desc = "SQLite, one file per spec"

    def __init__(self, name: str, codec: Codec, *, module_name: str | None = None) -> None:
        del module_name
        self.name = name
        self._open: dict[Path, Database] = {}
        self._make: Callable[[Path], Database] = lambda path: Database(str(path), codec)

    def get(self, task: str, key: str) -> Any:
        """See Database."""
        return self._of(task).get(task, key)

    def set(self, task: str, key: str, value: Any) -> None:
        """See Database."""
        self._of(task).set(task, key, value)

    def in_(self, task: str) -> bool:
        """See Database."""
        return self._of(task).in_(task)

    def remove(self, task: str) -> None:
        """See Database."""
        self._of(task).remove(task)

    def remove_all(self) -> None:
        """Forget every task of every spec."""
        for path in sorted(Path(self.name).glob("*/.doit.db")):
            self._at(path).remove_all()

    def dump(self) -> None:
        """See Database."""
        for database in self._open.values():
            database.dump()

    def _of(self, task: str) -> Database:
        folder = Path(self.name, task.partition(":")[0])
        return self._at((folder if folder.is_dir() else Path(self.name)) / ".doit.db")

    def _at(self, path: Path) -> Database:
        if path not in self._open:
            self._open[path] = self._make(path)
        return self._open[path]
