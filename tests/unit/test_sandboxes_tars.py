"""Archives are read as hostile: nothing is unpacked, nothing leads out, nothing is believed."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator

import pytest

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes.tars import read_tar_stream, write_tar_bytes

CAPS = {"max_files": 100, "max_bytes": 1 << 20}


def member(name: str, kind: bytes = tarfile.REGTYPE, **more: object) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.mode = kind, 0o755 if kind == tarfile.DIRTYPE else 0o644
    for field, value in more.items():
        setattr(found, field, value)
    return found


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(
        fileobj=raw, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as tar:
        tar.addfile(member("top", tarfile.DIRTYPE))
        for one, content in members:
            one.size = one.size or len(content)
            tar.addfile(one, io.BytesIO(content))
    return raw.getvalue()


def read(raw: bytes, **changes: object) -> list[FileEntry]:
    return list(read_tar_stream([raw[n : n + 700] for n in range(0, len(raw), 700)], b"top", **{**CAPS, **changes}))  # type: ignore[arg-type]


def test_what_is_written_is_read() -> None:
    entries = [
        FileEntry(b"d", "dir", 0o755),
        FileEntry(b"d/\xff\n" + b"n" * 200, "file", 0o640, b"\0x"),
        FileEntry(b"l", "link", 0o777, b"/etc/" + b"x" * 300),
    ]
    raw = write_tar_bytes([FileEntry(b"top/" + e.path, e.kind, e.mode, e.content) for e in entries], 1000)
    assert read(raw) == entries
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        assert {(m.uid, m.gid) for m in tar} == {(1000, 1000)}


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "top/../x", "top/a/../../x", "top//x", "top/./x", "other/x", "..", "top/" + "n" * 256]
)
def test_a_name_that_leads_out_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="the archive holds"):
        read(archive((member(name), b"x")))


def test_a_path_through_a_link_or_a_file_is_refused() -> None:
    for first in (member("top/d", tarfile.SYMTYPE, linkname="/etc"), member("top/d")):
        with pytest.raises(InputError, match="no folder"):
            read(archive((first, b""), (member("top/d/x"), b"x")))


def test_a_path_that_comes_twice_is_refused() -> None:
    with pytest.raises(InputError, match="twice"):
        read(archive((member("top/x"), b"1"), (member("top/x", tarfile.SYMTYPE, linkname="/etc"), b"")))


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, b"Z"])
def test_what_is_neither_file_nor_folder_nor_link_is_named_only(kind: bytes) -> None:
    assert read(archive((member("top/odd", kind), b""))) == [FileEntry(b"odd", "special", 0o644)]


def test_a_hard_link_is_the_file_that_came_before_it_and_nothing_else() -> None:
    raw = archive(
        (member("top/a"), b"own"),
        (member("top/b", tarfile.LNKTYPE, linkname="top/a"), b""),
        (member("top/c", tarfile.LNKTYPE, linkname="top/absent"), b""),
    )
    assert read(raw)[1:] == [FileEntry(b"b", "file", 0o644, b"own"), FileEntry(b"c", "special", 0o644)]
    with pytest.raises(InputError, match="below"):
        read(archive((member("top/a", tarfile.LNKTYPE, linkname="/etc/shadow"), b"")))


def test_hard_links_count_against_the_cap() -> None:
    links = [(member(f"top/l{n}", tarfile.LNKTYPE, linkname="top/a"), b"") for n in range(20)]
    with pytest.raises(InputError, match="more than"):
        read(archive((member("top/a"), b"x" * 100_000), *links), max_bytes=1 << 20)


def zeros() -> Iterator[bytes]:
    """A terabyte that a sparse file says to hold, of which little is ever asked for."""
    top, big = member("top", tarfile.DIRTYPE), member("top/big", size=1 << 40)
    yield top.tobuf(tarfile.GNU_FORMAT) + big.tobuf(tarfile.GNU_FORMAT)
    for _ in range(16):
        yield bytes(1 << 20)
    raise AssertionError("more was read than the cap wants")


@pytest.mark.parametrize("cut", [False, True])
def test_a_huge_file_is_read_up_to_the_cap_only(cut: bool) -> None:
    def found() -> list[FileEntry]:
        return list(read_tar_stream(zeros(), b"top", **CAPS, cut=cut))

    if cut:
        assert [len(e.content) for e in found()] == [(1 << 20) + 1]
    else:
        with pytest.raises(InputError, match="more than"):
            found()


def test_caps_cut_where_they_are_passed() -> None:
    raw = archive(*((member(f"top/f{n}"), b"x" * 400) for n in range(5)))
    assert [len(e.content) for e in read(raw, max_bytes=1000, cut=True)] == [400, 400, 201]
    assert len(read(raw, max_files=2, cut=True)) == 3
    with pytest.raises(InputError, match="more than"):
        read(raw, max_files=2)


def test_depth_is_bounded() -> None:
    folders = [(member("top" + "/d" * n, tarfile.DIRTYPE), b"") for n in range(1, 300)]
    assert len(read(archive(*folders), max_files=1000, cut=True)) == 256
    with pytest.raises(InputError, match="deeper"):
        read(archive(*folders), max_files=1000)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw[:2000],
        lambda raw: raw[:4096],
        lambda raw: b"\xff" * 1024 + raw,
        lambda raw: raw[:600] + b"\xff" * 400 + raw[1000:],
    ],
)
def test_a_broken_archive_is_infra(spoil: Callable[[bytes], bytes]) -> None:
    with pytest.raises((InfraError, InputError)):
        read(spoil(archive((member("top/x"), b"x" * 3000))))


def test_an_archive_that_announces_more_than_it_holds_is_refused_at_once() -> None:
    header = tarfile.TarInfo("top/a")
    header.size = 1 << 50
    content = header.tobuf(tarfile.GNU_FORMAT) + b"a" * 512
    with pytest.raises(InfraError, match="cannot be read"):
        list(read_tar_stream([content], b"top", max_files=9, max_bytes=1 << 20))
    with pytest.raises(InfraError, match="cannot be read"):
        list(read_tar_stream([content.replace(b"top/a", b"top\0\0", 1)], b"top", max_files=9, max_bytes=1 << 20))
