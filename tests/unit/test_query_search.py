"""What is found in content through its encodings, whoever damaged it."""

from __future__ import annotations

import io
import random
import zipfile

import pytest

from programsmith.payload.query.search import readings

SECRET = b"def turn(text): a secret of the program\n" * 40
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def packed(method: int, *contents: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for number, content in enumerate(contents):
            archive.writestr(str(number), content)
    return out.getvalue()


def holds(content: bytes, largest: int = 1 << 20) -> bool:
    return any(SECRET in reading for reading in readings(content, largest=largest))


@pytest.mark.parametrize("method", METHODS)
def test_no_damage_to_an_archive_is_a_fault_of_whoever_looks(method: int) -> None:
    whole, chance = packed(method, SECRET, SECRET), random.Random(method)
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(4, len(content))] = chance.randrange(256)
        assert next(readings(bytes(content))) == content
        list(readings(bytes(content), largest=1 << 16))


def test_what_an_archive_says_of_itself_hides_nothing_that_it_holds() -> None:
    whole = packed(zipfile.ZIP_DEFLATED, SECRET)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        (member,) = archive.infolist()
    for said in (member.CRC, member.file_size):
        assert holds(whole.replace(said.to_bytes(4, "little"), (said // 9).to_bytes(4, "little"))), said
    spoiled = packed(zipfile.ZIP_DEFLATED, b"x" * 5000, SECRET)
    assert holds(spoiled[:40] + b"\xff" * 4 + spoiled[44:]), "a member that is spoiled hides none behind it"


def test_more_than_is_searched_is_read_as_far_as_that() -> None:
    content = packed(zipfile.ZIP_DEFLATED, SECRET + bytes(1 << 20))
    assert holds(content, largest=1 << 16)
    assert max(len(reading) for reading in readings(content, largest=1 << 16)) == 1 << 16
