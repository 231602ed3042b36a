from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from programsmith.compiler.signature import LARGE, TICK_NS, sign, unchanged
from programsmith.errors import InputError


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    (top / "inner").mkdir(parents=True)
    (top / "inner" / "a").write_bytes(b"one")
    (top / "link").symlink_to("inner")
    return top


def test_nothing_has_no_signature(tmp_path: Path) -> None:
    assert sign(tmp_path / "absent") is None


def test_a_copy_has_the_same_content_and_another_stat_line(tree: Path, tmp_path: Path) -> None:
    import shutil

    other = tmp_path / "other"
    shutil.copytree(tree, other, symlinks=True)
    first, second = sign(tree), sign(other)
    assert first is not None
    assert second is not None
    assert first.content == second.content
    assert first.seen != second.seen
    assert unchanged(other, first)


def _edit(tree: Path) -> None:
    (tree / "inner" / "a").write_bytes(b"two")


def _edit_keeping_time(tree: Path) -> None:
    before = (tree / "inner" / "a").stat()
    _edit(tree)
    os.utime(tree / "inner" / "a", ns=(before.st_atime_ns, before.st_mtime_ns))


def _add(tree: Path) -> None:
    (tree / "inner" / "b").write_bytes(b"")


def _drop(tree: Path) -> None:
    (tree / "inner" / "a").unlink()


def _rename(tree: Path) -> None:
    (tree / "inner" / "a").rename(tree / "inner" / "c")


def _chmod(tree: Path) -> None:
    (tree / "inner" / "a").chmod(0o755)


def _relink(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("inner/a")


def _to_file(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").write_bytes(b"inner")


def _fifo(tree: Path) -> None:
    os.mkfifo(tree / "pipe")


def _odd_name(tree: Path) -> None:
    with open(os.fsencode(tree) + b"/\xff\n", "wb"):
        pass


@pytest.mark.parametrize(
    "change", [_edit, _edit_keeping_time, _add, _drop, _rename, _chmod, _relink, _to_file, _fifo, _odd_name]
)
def test_every_change_below_a_folder_is_seen(tree: Path, change: object) -> None:
    before = sign(tree)
    assert before is not None
    assert unchanged(tree, before)
    change(tree)  # type: ignore[operator]
    assert not unchanged(tree, before)


def test_what_git_and_interpreters_leave_is_no_content(tree: Path) -> None:
    before = sign(tree)
    assert before is not None
    for name in (".git", "__pycache__"):
        (tree / name).mkdir()
        (tree / name / "x").write_bytes(b"x")
    assert unchanged(tree, before)


def test_a_change_at_the_tick_of_the_signature_is_seen(tree: Path, monkeypatch) -> None:
    """A kernel with a coarse clock gives two changes of one tick one time: the signature waits for the next tick."""
    lstat = os.lstat

    def coarse(path):
        at = lstat(path)
        tick = {f"st_{kind}_ns": getattr(at, f"st_{kind}_ns") // TICK_NS * TICK_NS for kind in ("mtime", "ctime")}
        return SimpleNamespace(st_mode=at.st_mode, st_size=at.st_size, st_ino=at.st_ino, **tick)

    monkeypatch.setattr(os, "lstat", coarse)
    for content in (b"two", b"six", b"ten") * 5:
        known = sign(tree)
        assert known is not None
        (tree / "inner" / "a").write_bytes(content)
        assert not unchanged(tree, known)


def test_a_touched_file_is_unchanged(tree: Path) -> None:
    before = sign(tree / "inner" / "a")
    assert before is not None
    os.utime(tree / "inner" / "a", ns=(0, 0))
    assert unchanged(tree / "inner" / "a", before)


def test_a_link_is_never_followed(tree: Path, tmp_path: Path) -> None:
    before = sign(tree / "inner" / "a")
    assert before is not None
    (tree / "inner" / "a").rename(tmp_path / "a")
    (tree / "inner" / "a").symlink_to(tmp_path / "a")
    assert not unchanged(tree / "inner" / "a", before)


def test_paths_that_could_be_confused_have_other_signatures(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for top, names in ((first, ["a b", "c"]), (second, ["a", "b c"])):
        top.mkdir()
        for name in names:
            (top / name).write_bytes(b"")
    one, two = sign(first), sign(second)
    assert one is not None
    assert two is not None
    assert one.content != two.content


def test_a_giant_is_known_without_being_read(tree: Path) -> None:
    giant = tree / "giant"
    with giant.open("wb") as out:
        out.truncate(LARGE << 10)  # sparse: reading it would take minutes
    first = sign(tree)
    assert first is not None
    os.utime(giant, ns=(1, 1))
    assert not unchanged(tree, first)


def test_a_tree_deeper_than_any_path_is_refused_in_one_short_line(tree: Path) -> None:
    at = os.getcwd()
    try:
        os.chdir(tree)
        for _ in range(30):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    finally:
        os.chdir(at)
    with pytest.raises(InputError, match=r"cannot be read whole: .*bytes\)': File name too long; mend it") as said:
        sign(tree)
    assert len(str(said.value)) < 600


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything: run as an ordinary user")
def test_a_folder_without_rights_is_refused_by_name(tree: Path) -> None:
    (tree / "inner").chmod(0)
    with pytest.raises(InputError, match=r"inner.*Permission denied"):
        sign(tree)
