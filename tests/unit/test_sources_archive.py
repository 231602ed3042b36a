"""Archives: read without unpacking, stripped of one top folder; hostile ones are wrong input, each by its fault."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from programsmith.errors import InputError
from programsmith.sources.archive import read_archive
from programsmith.sources.origin import RefusedError


def tar(path: Path, *members: tuple[str, bytes | dict[str, object]], mode: str = "w:gz") -> Path:
    """A tar of (name, content) or (name, fields of the header)."""
    with tarfile.open(path, mode, encoding="utf-8", errors="surrogateescape") as out:
        for name, body in members:
            info = tarfile.TarInfo(name)
            content = body if isinstance(body, bytes) else b""
            for key, value in (body if isinstance(body, dict) else {}).items():
                setattr(info, key, value)
            info.size = info.size or len(content)
            out.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def read(kit) -> Callable[[Path], object]:
    return lambda path: read_archive(path.name, path, hashlib.sha256(path.read_bytes()).hexdigest(), kit.caps)


def paths(origin) -> dict[bytes, bytes]:
    return {e.path: e.content for e in origin.entries}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_loses_its_single_top_folder_and_names_the_project(read, tmp_path, mode):
    path = tar(tmp_path / "toy_1.2.orig.tar.gz", ("toy-1.2/a.py", b"x"), ("toy-1.2/d/b", b"y"), mode=mode)
    origin = read(path)
    assert paths(origin) == {b"a.py": b"x", b"d/b": b"y"}
    assert origin.names == ("toy",)
    assert origin.commit == hashlib.sha256(path.read_bytes()).hexdigest()


def test_two_top_folders_stay(read, tmp_path):
    assert set(paths(read(tar(tmp_path / "t.tar", ("./a/x", b"1"), ("b/y", b"2"), mode="w")))) == {b"a/x", b"b/y"}


def test_a_zip_keeps_modes_and_links(read, tmp_path):
    path = tmp_path / "toy.zip"
    with zipfile.ZipFile(path, "w") as out:
        for name, mode, body in (("t/run", stat.S_IFREG | 0o755, "x"), ("t/to", stat.S_IFLNK | 0o777, "run")):
            item = zipfile.ZipInfo(name)
            item.external_attr = mode << 16
            out.writestr(item, body)
    found = {e.path: e for e in read(path).entries}
    assert found[b"run"].mode == 0o755
    assert (found[b"to"].kind, found[b"to"].content) == ("link", b"run")


def test_names_that_are_not_utf8_stay_bytes(read, tmp_path):
    assert b"caf\xe9" in paths(read(tar(tmp_path / "t.tar", ("x", b""), ("caf\udce9", b"1"), mode="w")))


def test_a_hard_link_becomes_a_file(read, tmp_path):
    link = {"type": tarfile.LNKTYPE, "linkname": "a"}
    assert paths(read(tar(tmp_path / "t.tgz", ("a", b"same"), ("b", link)))) == {b"a": b"same", b"b": b"same"}


def test_another_digest_is_wrong_input(kit, tmp_path):
    path = tar(tmp_path / "t.tgz", ("a", b"1"))
    with pytest.raises(InputError, match=f"wanted {'0' * 64}, got [0-9a-f]{{64}}"):
        read_archive("t.tgz", path, "0" * 64, kit.caps)


def test_an_absent_archive_is_wrong_input(kit, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_archive("t.tgz", tmp_path / "t.tgz", "0" * 64, kit.caps)


HOSTILE = {
    "is absolute": [("/etc/passwd", b"x")],
    "climbs out": [("a/../../b", b"x")],
    "is there twice": [("a", b"1"), ("./a", b"2")],
    "links out": [("a/l", {"type": tarfile.SYMTYPE, "linkname": "../../x"})],
    "links out of the archive, to '/etc": [("l", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})],
    "hard link": [("b", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})],
    "is a device": [("dev", {"type": tarfile.CHRTYPE})],
    "a pipe": [("fifo", {"type": tarfile.FIFOTYPE})],
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_hostile_tar_is_wrong_input(read, tmp_path, fault):
    with pytest.raises(InputError, match=fault):
        read(tar(tmp_path / "t.tgz", ("ok", b"1"), *HOSTILE[fault]))


@pytest.mark.parametrize(
    ("name", "fault"), [("/etc/passwd", "is absolute"), ("../x", "climbs out"), ("ok", "is there twice")]
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_hostile_zip_is_wrong_input(read, tmp_path, name, fault):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as out:
        out.writestr("ok", "1")
        out.writestr(name, "2")
    with pytest.raises(InputError, match=fault):
        read(tmp_path / "t.zip")


def test_an_encrypted_zip_is_wrong_input(read, tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as out:
        out.writestr("a", "1")
    raw = (tmp_path / "t.zip").read_bytes()
    at = raw.index(b"PK\x01\x02") + 8
    (tmp_path / "t.zip").write_bytes(raw[:at] + b"\x01" + raw[at + 1 :])
    with pytest.raises(InputError, match="is encrypted"):
        read(tmp_path / "t.zip")


def test_a_tar_bomb_stops_at_the_ratio(read, tmp_path):
    with gzip.open(tmp_path / "t.tar.gz", "wb") as out:
        for _ in range(40):
            out.write(b"\0" * (1 << 20))
    with pytest.raises(InputError, match="unpacks to more than"):
        read(tmp_path / "t.tar.gz")


def test_a_zip_bomb_is_refused_before_it_is_read(read, tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as out:
        for n in range(30):
            out.writestr(f"f{n}", b"\0" * (1 << 20))
    with pytest.raises((RefusedError, InputError), match=r"more than|above"):
        read(tmp_path / "t.zip")


def test_too_many_entries_are_refused(read, tmp_path):
    with pytest.raises(RefusedError, match="more than 1000 files"):
        read(tar(tmp_path / "t.tgz", *[(f"f{n}", b"") for n in range(1100)]))


def test_a_file_too_large_is_refused_by_name(read, tmp_path):
    with pytest.raises(RefusedError, match="big has"):
        read(tar(tmp_path / "t.tar", ("big", os.urandom((1 << 20) + 1)), mode="w"))


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8bbroken", b"PK\x05\x06"])
def test_what_is_no_archive_is_wrong_input(read, tmp_path, content):
    (tmp_path / "t.tar.gz").write_bytes(content)
    with pytest.raises(InputError):
        read(tmp_path / "t.tar.gz")


def test_a_truncated_archive_is_wrong_input(read, tmp_path):
    path = tar(tmp_path / "t.tgz", ("a", os.urandom(50_000)))
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(InputError, match="cannot be read"):
        read(path)
