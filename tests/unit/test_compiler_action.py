from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from programsmith.compiler.action import is_full, remove, replace, sync
from programsmith.compiler.paths import former


def folder(path: Path, text: str) -> Path:
    (path / "deep").mkdir(parents=True)
    (path / "deep" / "file").write_text(text)
    (path / "dangling").symlink_to("nowhere")
    return path


def test_a_folder_replaces_a_folder_whole(tmp_path: Path) -> None:
    old, new = folder(tmp_path / "x", "old"), folder(tmp_path / "x.part", "new")
    (old / "only_old").write_text("")
    replace(new, old)
    assert (old / "deep" / "file").read_text() == "new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x"]
    assert not (old / "only_old").exists()


def test_a_folder_takes_a_name_where_an_old_replacement_broke_off(tmp_path: Path) -> None:
    old, new = folder(tmp_path / "x", "old"), folder(tmp_path / "x.part", "new")
    folder(former(old), "older")
    replace(new, old)
    assert (old / "deep" / "file").read_text() == "new"
    assert not former(old).exists()


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_file_replaces_whatever_is_there(tmp_path: Path, kind: str) -> None:
    path, made = tmp_path / "x", tmp_path / "x.part"
    target = tmp_path / "elsewhere"
    target.write_text("kept")
    match kind:
        case "file":
            path.write_text("old")
        case "folder":
            folder(path, "old")
        case _:
            path.symlink_to(target)
    made.write_text("new")
    replace(made, path)
    assert path.read_text() == "new"
    assert not path.is_symlink()
    assert target.read_text() == "kept"


def test_what_was_not_made_is_removed(tmp_path: Path) -> None:
    path = folder(tmp_path / "x", "old")
    replace(tmp_path / "x.part", path)
    assert not path.exists()


def test_removing_a_link_to_a_folder_keeps_the_folder(tmp_path: Path) -> None:
    kept = folder(tmp_path / "kept", "kept")
    link = tmp_path / "link"
    link.symlink_to(kept)
    remove(link)
    assert not link.is_symlink()
    assert (kept / "deep" / "file").exists()
    remove(tmp_path / "absent")


def test_syncing_leaves_links_and_pipes_alone(tmp_path: Path) -> None:
    made = folder(tmp_path / "x", "text")
    os.mkfifo(made / "pipe")
    sync(made)
    assert (made / "dangling").is_symlink()


@pytest.mark.parametrize(("number", "full"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EACCES, False)])
def test_a_full_disk_is_known_alone_and_among_the_faults_of_a_copy(number: int, full: bool) -> None:
    fault = OSError(number, os.strerror(number), "there")
    assert is_full(fault) is full
    assert is_full(shutil.Error([("here", "there", str(fault)), ("a", "b", "[Errno 13] no")])) is full
    assert not is_full(shutil.Error("here and there are the same"))
