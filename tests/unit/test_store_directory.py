from __future__ import annotations

from pathlib import Path

import pytest

from programsmith.store.backend import Namespace
from programsmith.store.directory import Directory

NAME = "ab" + "0" * 62


def test_bytes_lie_where_remote_caches_look_for_them(tmp_path: Path) -> None:
    store = Directory(tmp_path)
    store.put(Namespace.CAS, NAME, b"bytes")
    assert (tmp_path / "cas" / "ab" / NAME).read_bytes() == b"bytes"
    assert store.get(Namespace.CAS, NAME) == b"bytes"
    assert store.get(Namespace.AC, NAME) is None
    assert store.has(Namespace.CAS, NAME)
    assert [kept.name for kept in store.list(Namespace.CAS)] == [NAME]
    store.delete(Namespace.CAS, NAME)
    assert not store.has(Namespace.CAS, NAME)
    store.delete(Namespace.CAS, NAME)


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "ab", NAME + "/..", NAME.upper(), NAME + "\n", "\0" * 64])
def test_hostile_names_reach_no_path(tmp_path: Path, name: str) -> None:
    store = Directory(tmp_path)
    for use in (store.get, store.has, store.delete, store.touch):
        with pytest.raises(ValueError, match="names no object of a store"):
            use(Namespace.CAS, name)
    with pytest.raises(ValueError, match="names no object of a store"):
        store.put(Namespace.CAS, name, b"")
    assert list(tmp_path.iterdir()) == []


def test_strange_files_are_no_objects(tmp_path: Path) -> None:
    store = Directory(tmp_path)
    store.put(Namespace.CAS, NAME, b"bytes")
    (tmp_path / "cas" / "ab" / "README").write_text("x")
    (tmp_path / "cas" / "ab" / ("cd" + "0" * 62)).write_text("x")
    (tmp_path / "cas" / "lost+found").mkdir()
    assert [kept.name for kept in store.list(Namespace.CAS)] == [NAME]
