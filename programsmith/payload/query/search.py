"""Finding bytes in files as they lie there and through base64, hexadecimal digits, gzip, zlib and zip.

In: a file's content, or an index of other files. Out: its readings; runs of bytes that two sides share.
"""

from __future__ import annotations

import binascii
import contextlib
import io
import itertools
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

DEPTH = 3  # encodings one in the other
LARGEST = 1 << 28  # bytes that one packed content may unfold to
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{16,})*={0,2}")
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2}){16,}")
_URL = bytes.maketrans(b"-_", b"+/")
_GZIP = b"\x1f\x8b\x08"
_ZIP = b"PK\x03\x04"
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_SAMPLES = 16  # places of one block that are tried
_PIECE = 1 << 16
_FEW = 4  # different bytes of a block, below which it would be found everywhere in filling


def readings(content: bytes, depth: int = DEPTH, largest: int = LARGEST) -> Iterator[bytes]:
    """The content itself, then everything that it holds in a known encoding, up to `depth` layers down.

    Nothing is unfolded to more than `largest` bytes at once; what comes in all is for the caller to bound.
    """
    yield content
    if depth:
        for inner in itertools.chain(_packed(content, largest), _texts(content)):
            yield from readings(inner, depth - 1, largest)


def _texts(content: bytes) -> Iterator[bytes]:
    for found in _BASE64.finditer(content):
        word = found[0].translate(_URL, b"\r\n=")
        yield binascii.a2b_base64(word[: len(word) - (len(word) % 4 == 1)] + b"==")
    for found in _HEX.finditer(content):
        yield binascii.unhexlify(found[0])


def _packed(content: bytes, largest: int) -> Iterator[bytes]:
    if content.startswith(_ZIP) or (content.startswith(b"#!") and _ZIP in content):
        yield from _members(content, largest)
    elif content.startswith(_GZIP):
        yield from _inflated(content, 31, largest)
    elif _ZLIB.match(content):
        yield from _inflated(content, 15, largest)


def _members(content: bytes, largest: int) -> Iterator[bytes]:
    """What the members of an archive hold, each as far as it can be read: somebody may have damaged it on purpose."""
    with contextlib.suppress(Exception), zipfile.ZipFile(io.BytesIO(content)) as archive:  # the library raises anything
        for member in archive.infolist():
            member.CRC, member.file_size = None, largest  # type: ignore[assignment] # whatever it says of itself
            found = bytearray()
            with contextlib.suppress(Exception), archive.open(member) as file:
                while piece := file.read(_PIECE):
                    found += piece
            yield bytes(found)


def _inflated(content: bytes, window: int, largest: int) -> Iterator[bytes]:
    try:
        yield zlib.decompressobj(window).decompress(content, largest)
    except zlib.error:
        return


@dataclass(frozen=True, slots=True)
class Run:
    """Bytes that two sides share: where they start in the first, and in which file of the second."""

    at: int
    file: int
    content: bytes


class RunIndex:
    """Runs of at least `size` bytes that other contents share with some files. Runs of few distinct bytes do not count.

    Half-size blocks of the files, aligned, are looked up: each run of `size` bytes holds one of them whole.
    """

    def __init__(self, files: Iterable[bytes], size: int, distinct: int) -> None:
        self._files = tuple(files)
        self._size, self._distinct, self._block = size, distinct, size // 2
        self._places: dict[bytes, list[tuple[int, int]]] = {}
        for number, content in enumerate(self._files):
            for at in range(0, len(content) - self._block + 1, self._block):
                block = content[at : at + self._block]
                places = self._places.setdefault(block, []) if len(set(block)) >= _FEW else []
                if len(places) < _SAMPLES:
                    places.append((number, at))

    def runs(self, content: bytes) -> Iterator[Run]:
        """The longest shared runs of `content`, from left to right, none inside another."""
        at, last, places = 0, len(content) - self._block, self._places
        while at <= last:
            here = places.get(content[at : at + self._block])
            run = self._longest(content, at, here) if here else None
            if run is not None:
                yield run
                at = max(at + 1, run.at + len(run.content) - self._block + 1)
            else:
                at += 1

    def _longest(self, content: bytes, at: int, places: Iterable[tuple[int, int]]) -> Run | None:
        found = [self._grown(content, at, number, start) for number, start in places]
        run = max(found, key=lambda r: len(r.content))
        long = len(run.content) >= self._size and len(set(run.content)) >= self._distinct
        return run if long else None

    def _grown(self, content: bytes, at: int, number: int, start: int) -> Run:
        other = self._files[number]
        left = 0
        while left < min(at, start) and content[at - left - 1] == other[start - left - 1]:
            left += 1
        right, most = self._block, min(len(content) - at, len(other) - start)
        while right < most and content[at + right] == other[start + right]:
            right += 1
        return Run(at - left, number, content[at - left : at + right])
