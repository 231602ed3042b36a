from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from programsmith.store.pack import FOLDER, packed, unpack


def tree(*members: tuple[str, bytes, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, kind, link in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = kind, link, 0o755
            tar.addfile(member)
    return FOLDER + out.getvalue()


TOP = (".", tarfile.DIRTYPE, "")


@pytest.mark.parametrize(
    "content",
    [
        tree(TOP, ("../out", tarfile.REGTYPE, "")),
        tree(TOP, ("/out", tarfile.REGTYPE, "")),
        tree(TOP, ("a/../../out", tarfile.REGTYPE, "")),
        tree(TOP, ("a", tarfile.SYMTYPE, ".."), ("a/out", tarfile.REGTYPE, "")),
        tree(TOP, ("missing/out", tarfile.REGTYPE, "")),
        tree(TOP, ("a", tarfile.LNKTYPE, "/etc/passwd")),
        tree(TOP, ("a", tarfile.CHRTYPE, "")),
        tree(("a", tarfile.REGTYPE, "")),
        FOLDER + b"no tar" * 200,
        FOLDER,
        b"neither",
        b"",
    ],
)
def test_a_hostile_object_is_refused_and_writes_nothing_outside(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(content, tmp_path / "x")
    assert sorted(p.name for p in tmp_path.iterdir()) in ([], ["x"])
    assert not (tmp_path / "x").exists() or list((tmp_path / "x").iterdir()) == []


def test_a_cut_off_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "big").write_bytes(b"b" * 5000)
    whole = packed(tmp_path / "x")
    with pytest.raises(ValueError, match=r"."):
        unpack(whole[:2500], tmp_path / "y")


def test_times_and_listing_order_change_no_byte(tmp_path: Path) -> None:
    for folder, names in (("x", "ab"), ("y", "ba")):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_text(name)
    os.utime(tmp_path / "y" / "a", (1, 1))
    assert packed(tmp_path / "x") == packed(tmp_path / "y")


def test_folders_that_nobody_may_write_come_back(tmp_path: Path) -> None:
    inner = tmp_path / "x" / "closed"
    inner.mkdir(parents=True)
    (inner / "file").write_text("text")
    inner.chmod(0o555)
    unpack(packed(tmp_path / "x"), tmp_path / "y")
    assert (tmp_path / "y" / "closed").stat().st_mode & 0o777 == 0o555
    assert (tmp_path / "y" / "closed" / "file").read_text() == "text"


def test_what_is_neither_file_nor_folder_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    os.mkfifo(tmp_path / "x" / "pipe")
    with pytest.raises(ValueError, match="neither file, folder nor link"):
        packed(tmp_path / "x")
    (tmp_path / "link").symlink_to("x")
    with pytest.raises(ValueError, match="is a link"):
        packed(tmp_path / "link")
