from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest
from doit.dependency import JSONCodec

from programsmith.compiler.state import Database, Databases


def save(database: Database | Databases, task: str, value: object) -> None:
    database.set(task, "_values_:", value)
    database.set(task, "deps:", ())


def reopened(path: Path) -> Database:
    return Database(str(path), JSONCodec())


def test_a_finished_task_is_there_before_the_database_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "db"
    save(reopened(path), "a", {"x": 1})
    assert reopened(path).get("a", "_values_:") == {"x": 1}


def test_an_unfinished_task_is_not(tmp_path: Path) -> None:
    path = tmp_path / "db"
    database = reopened(path)
    database.set("a", "_values_:", {"x": 1})
    database.dump()
    assert not reopened(path).in_("a")


def test_a_kill_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    path = tmp_path / "db"
    child = os.fork()
    if child == 0:
        save(reopened(path), "a", 1)
        os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert reopened(path).get("a", "_values_:") == 1


def test_removed_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "db"
    database = reopened(path)
    save(database, "a", 1)
    save(database, "b", 2)
    database.remove("a")
    assert (reopened(path).in_("a"), reopened(path).in_("b")) == (False, True)
    database.remove_all()
    assert not reopened(path).in_("b")


def test_reading_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "db"
    assert reopened(path).get("a", "deps:") is None
    assert not path.exists()


@pytest.mark.parametrize("content", [b"garbage" * 200, b"x"])
def test_a_file_that_is_no_database_is_dropped(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "db"
    path.write_bytes(content)
    database = reopened(path)
    assert not database.in_("a")
    save(database, "a", 1)
    assert reopened(path).in_("a")


def test_a_row_that_is_no_json_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "db"
    database = reopened(path)
    save(database, "a", 1)
    database.dump()
    with sqlite3.connect(path) as connection:
        connection.execute("update task set saved = '{'")
    connection.close()
    assert not reopened(path).in_("a")


def test_each_spec_has_its_own_file(tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        (tmp_path / name).mkdir()
    many = Databases(str(tmp_path), JSONCodec())
    save(many, "alpha:ingest", 1)
    save(many, "beta:r0:gate", 2)
    save(many, "check", 3)
    assert reopened(tmp_path / "alpha" / ".doit.db").in_("alpha:ingest")
    assert reopened(tmp_path / "beta" / ".doit.db").in_("beta:r0:gate")
    assert reopened(tmp_path / ".doit.db").in_("check")
    many.remove_all()
    assert not reopened(tmp_path / "beta" / ".doit.db").in_("beta:r0:gate")
