"""What doit remembers of a spec's tasks, for who only looks: the database is neither made, mended nor locked for long.

In: cache/<name>/.doit.db, which a build may be writing. Out: task to what was saved with its last success (`slice`,
`targets`, `because`). A file that cannot be understood says nothing, as it does to a build.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from programsmith.sandboxes.scratch import scratch

SAVED = "_values_:"  # doit's key for what a task saves
JOURNALS = ("", "-journal", "-wal")
PATIENCE_SECONDS = 10.0

Values = dict[str, Any]


def remembered(database: Path) -> dict[str, Values]:
    """Task to its saved values; empty where there is no database to read."""
    if not database.exists():
        return {}
    try:
        return _rows(database)
    except sqlite3.OperationalError:  # a killed writer's journal, which only who may write can roll back
        with scratch("look") as folder, suppress(sqlite3.DatabaseError, OSError):
            return _rows(_copied(database, Path(folder)), "rw")
    except (sqlite3.DatabaseError, ValueError):
        pass
    return {}


def _rows(database: Path, mode: str = "ro") -> dict[str, Values]:
    address = f"file:{quote(str(database))}?mode={mode}"
    with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE_SECONDS)) as connection:
        rows = connection.execute("select name, saved from task").fetchall()
    saved = {name: json.loads(text).get(SAVED) for name, text in rows}
    return {name: values for name, values in saved.items() if isinstance(values, dict)}


def _copied(database: Path, folder: Path) -> Path:
    for suffix in JOURNALS:
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{database}{suffix}", folder / f"copy{suffix}")
    return folder / "copy"
