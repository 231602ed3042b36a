"""A stamp holds while nothing that it watches differs; whatever is no whole stamp is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from programsmith.compiler.footing import keep, settled
from programsmith.compiler.stamp import Stamp, Watched, formed, stamp_at

FIELDS = [b"footing", b"specs/a.yaml", b"7"]


def watch(top: Path) -> Watched:
    """A folder, its files and a link as themselves, a file and an absent one through links."""
    bare = [top, top / "a", top / "link", top / "folder", top / "folder" / "b"]
    through = [top / "link", top / "absent"]
    listed = [top / "listed", top / "folder", top / "a"]
    return Watched(*([os.fsencode(path) for path in paths] for paths in (through, bare, listed)))


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    (top / "folder").mkdir(parents=True)
    (top / "listed").mkdir()
    (top / "a").write_bytes(b"one")
    (top / "folder" / "b").write_bytes(b"two")
    (top / "target").write_bytes(b"three")
    (top / "link").symlink_to("target")
    return top


def written(top: Path) -> Path:
    place = top.parent / "stamp"
    found = settled(lambda: watch(top), str(top.parent))
    assert found is not None
    keep(str(place), formed(FIELDS, *found))
    return place


def read(place: Path) -> Stamp:
    stamp = stamp_at(str(place), FIELDS[:1])
    assert stamp is not None
    assert stamp.fields == FIELDS[1:]
    return stamp


def test_what_is_unchanged_holds(top: Path) -> None:
    place = written(top)
    assert read(place).holds
    (top / "a").read_bytes()
    assert read(place).holds


def test_what_interpreters_leave_in_a_listed_folder_changes_nothing(top: Path) -> None:
    place = written(top)
    (top / "listed" / "__pycache__").mkdir()
    assert read(place).holds


def _same_size_and_time(top: Path) -> None:
    before = (top / "a").stat()
    (top / "a").write_bytes(b"eno")
    os.utime(top / "a", ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaced(top: Path) -> None:
    before = (top / "a").stat()
    (top / "new").write_bytes(b"one")
    os.utime(top / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(top / "new", top / "a")


def _back(top: Path) -> None:
    """A clock that went back: the edit looks older than all that was there."""
    (top / "a").write_bytes(b"eno")
    os.utime(top / "a", (1, 1))


def _relinked(top: Path) -> None:
    (top / "link").unlink()
    (top / "link").symlink_to("a")


def _file_for_link(top: Path) -> None:
    (top / "link").unlink()
    (top / "link").write_bytes(b"three")


CHANGES = {
    "edited": lambda top: (top / "a").write_bytes(b"other"),
    "edited at the same size and time": _same_size_and_time,
    "replaced by a twin": _replaced,
    "edited before its time": _back,
    "deleted": lambda top: (top / "folder" / "b").unlink(),
    "added": lambda top: (top / "folder" / "c").write_bytes(b""),
    "mode": lambda top: (top / "a").chmod(0o755),
    "link to another": _relinked,
    "target of a link": lambda top: (top / "target").write_bytes(b"3"),
    "file for a link": _file_for_link,
    "absent no more": lambda top: (top / "absent").write_bytes(b""),
    "name added": lambda top: (top / "listed" / "c").write_bytes(b""),
    "listed folder gone": lambda top: (top / "listed").rmdir(),
    "folder gone": lambda top: (top / "folder").rename(top.parent / "elsewhere"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_ends_it(top: Path, change: str) -> None:
    place = written(top)
    CHANGES[change](top)
    assert not read(place).holds


def test_what_cannot_be_looked_at_does_not_hold(top: Path) -> None:
    place = written(top)
    (top / "target").unlink()
    (top / "target").symlink_to("link")
    assert not read(place).holds


@pytest.mark.parametrize("seconds", [0, 3600])
def test_what_is_as_young_as_the_look_is_not_settled(top: Path, seconds: int) -> None:
    later = (top.parent / "probe").touch() or (top.parent / "probe").stat().st_mtime + seconds + 5
    os.utime(top / "a", (later, later))
    assert settled(lambda: watch(top), str(top.parent)) is None


def test_what_changes_all_the_time_is_not_settled(top: Path) -> None:
    def looked() -> Watched:
        (top / "a").write_bytes(b"x")
        return watch(top)

    assert settled(looked, str(top.parent)) is None


def test_anything_but_a_whole_stamp_is_none(top: Path) -> None:
    place = written(top)
    whole = place.read_bytes()
    lines = {whole[:end] for end in range(len(whole))}
    lines |= {whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))}
    lines |= {whole + b"x", b"programsmith stamp 1 ", b"programsmith stamp 1 00000000 0 0 0 0\n", b"\xff\n", b"\n" * 9}
    for text in lines:
        place.write_bytes(text)
        found = stamp_at(str(place), FIELDS[:1])
        assert found is None or not found.holds, text[:80]


def test_no_file_and_odd_files_are_none(tmp_path: Path) -> None:
    assert stamp_at(str(tmp_path / "absent"), []) is None
    assert stamp_at(str(tmp_path), []) is None
    (tmp_path / "file").write_bytes(b"")
    assert stamp_at(str(tmp_path / "file" / "below"), []) is None
    assert stamp_at(str(tmp_path / "file"), []) is None


def test_a_stamp_of_something_else_is_none(top: Path) -> None:
    place = written(top)
    assert stamp_at(str(place), [b"other"]) is None
    assert stamp_at(str(place), [*FIELDS, b"more"]) is None


def test_what_a_killed_writer_left_is_no_stamp_and_in_nobodys_way(top: Path) -> None:
    place = written(top)
    whole = place.read_bytes()
    place.with_name("stamp.part").write_bytes(whole[: len(whole) // 2])
    assert read(place).holds
    keep(str(place), whole)
    assert read(place).holds
    assert not place.with_name("stamp.part").exists()
