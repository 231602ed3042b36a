"""The status wire: what is cut off is not believed."""

from __future__ import annotations

import struct

import pytest

from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.wire import Over, check_paths, decode_report, is_whole


def record(tag: bytes, payload: bytes = b"") -> bytes:
    return tag + struct.pack("<Q", len(payload)) + payload


ENTRY = record(b"N", struct.pack("<3Q", 3, 0o10644, 2) + b"a\xff")
WHOLE = (
    record(b"S")
    + record(b"X", struct.pack("<4Q", 256, 7, 5, 2_500_000))
    + ENTRY
    + record(b"U", b"too deep")
    + record(b"Z")
)


def test_a_whole_report_is_read() -> None:
    report = decode_report(WHOLE)
    assert (report.started, report.complete, report.unread) == (True, True, "too deep")
    assert (report.end, report.own_seconds) == ((256, 7, Over.CPU | Over.WORK), 2.5)
    assert report.entries == [FileEntry(b"a\xff", "special", 0o10644)]


def test_a_report_cut_anywhere_is_incomplete() -> None:
    assert not any(decode_report(WHOLE[:size]).complete for size in range(len(WHOLE)))


def test_only_a_whole_report_ends_the_reading() -> None:
    assert is_whole(bytearray(WHOLE))
    assert not any(is_whole(bytearray(WHOLE[:size])) for size in range(len(WHOLE)))


@pytest.mark.parametrize("seen", [0, 4])
def test_a_file_that_looks_like_the_end_of_a_report_ends_nothing(seen: int) -> None:
    """What was read so far may end within the file."""
    entry = record(b"N", struct.pack("<3Q", 0, 0o644, 1) + b"a" + record(b"Z") + b"more")
    assert not is_whole(bytearray(record(b"S") * seen + entry[:-4]))


@pytest.mark.parametrize("path", [b"", b"/a", b"a/", b"a//b", b".", b"..", b"a/../b", b"x" * 256])
def test_unsafe_paths_are_refused(path: bytes) -> None:
    with pytest.raises(ValueError, match="plain relative path"):
        check_paths([FileEntry(path)])


def test_nothing_lies_below_a_file_or_link() -> None:
    with pytest.raises(ValueError, match="not a directory"):
        check_paths([FileEntry(b"a", "link", 0o777, b"/"), FileEntry(b"a/b/c")])
    check_paths([FileEntry(b"a", "dir", 0o755), FileEntry(b"a/b/c")])
