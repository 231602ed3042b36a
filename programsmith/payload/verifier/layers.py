"""Encodings of bytes: what a content may decode to, layer by layer, so that packed machine code is seen.

Known are base64, hexadecimal digits, escapes in string literals, arrays of numbers; gzip, zlib, bzip2, xz and zip.
A decoder yields candidates; one that decodes to noise costs time only. Decoding of text is linear; unpacking and
everything that a text could make superlinear draws on one budget, whose exhaustion is refused.
"""

from __future__ import annotations

import binascii
import bz2
import contextlib
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from programsmith.payload.verifier.magic import AT_START, begins_with_code

Layer = tuple[str, bytes]

_SHORTEST = 32  # decoded bytes; less cannot be a program
_HEAD = 48  # encoded bytes that show how the decoded ones begin
_TEXT = re.compile(rb"[\t\n\r\x20-\x7e]{64}")  # without it nothing is written in characters
_JOINS = re.compile(rb"""["'][\s+.,\\]{0,64}+["']""")
_BREAKS = re.compile(rb"\\[nrt\n]")
_STANDARD = bytes(c for c in range(256) if not (chr(c).isascii() and chr(c).isalnum()) and c not in b"+/")
_URL_SAFE = bytes(c for c in _STANDARD if c not in b"-_")
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
_TEXT_START = re.compile(rb"(?<![A-Za-z0-9+/_-])(?=[A-Za-z0-9+/_-]{16})")
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_\s-]++")
_HEX_RUN = re.compile(rb"(?:(?:0[xX]|\\x|%)?+[0-9A-Fa-f]{2}[^0-9A-Za-z\\%]{0,16}+){32,}+")
_HEX_NOISE = re.compile(rb"0[xX](?=[0-9A-Fa-f]{2})|[^0-9A-Fa-f]++")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u\{?0{0,4}([0-9A-Fa-f]{2})\}?|([abfnrtve\\'\"]))")
_MARK = 0x100
_NAMED = dict(zip("abfnrtve\\'\"", b"\a\b\f\n\r\t\v\x1b\\'\"", strict=True))
_NUMBER = rb"(?:0[xX][0-9A-Fa-f]{1,2}|0[oO]?[0-7]{1,3}|[0-9]{1,3})"
_ARRAY = re.compile(_NUMBER + rb"(?:(?:[uU]8)?+[^0-9A-Za-z]{1,16}+" + _NUMBER + rb"){31,}+")
_ITEM = re.compile(rb"0[xX]([0-9A-Fa-f]{1,2})|0[oO]?([0-7]{1,3})|([0-9]{1,3})(?:[uU]8)?")


class BudgetError(Exception):
    """A submission unpacks to more bytes than anyone examines."""


@dataclass(slots=True)
class Budget:
    """How many bytes unpacking may still yield over a whole submission."""

    left: int

    def spend(self, count: int) -> None:
        """Take `count` bytes. Raises BudgetError."""
        self.left -= count
        if self.left < 0:
            raise BudgetError("it unpacks to more bytes than anyone examines")


def layers(content: bytes, budget: Budget) -> Iterator[Layer]:
    """What `content` may decode to by one encoding, as (encoding, bytes). Raises BudgetError."""
    for magic, name, unpack in _PACKED:
        if magic.match(content):
            yield from ((name, inner) for inner in unpack(content, budget))
            return
    if not _TEXT.search(content):
        return
    for decode in (_base64_streams, _base64_runs, _hex_runs, _escapes, _arrays):
        yield from (layer for layer in decode(content, budget) if len(layer[1]) >= _SHORTEST)


def _base64_streams(content: bytes, _budget: Budget) -> Iterator[Layer]:
    """All base64 characters of the text in one stream, at each alignment: wherever a payload begins, one hits it."""
    joined = _BREAKS.sub(b"", _JOINS.sub(b"", content))
    standard = joined.translate(None, _STANDARD)
    url_safe = joined.translate(_TO_STANDARD, _URL_SAFE)
    for stream in (standard,) if standard == url_safe else (standard, url_safe):
        for shift in range(4):
            yield "base64", _unbase64(stream[shift:])


def _base64_runs(content: bytes, budget: Budget) -> Iterator[Layer]:
    """Runs whose first bytes decode to the magic of something that is recognised at its start only."""
    joined = _BREAKS.sub(b"", _JOINS.sub(b"", content))
    for start in _TEXT_START.finditer(joined):
        head = _unbase64(joined[start.start() : start.start() + _HEAD].translate(_TO_STANDARD, _URL_SAFE))
        run = _BASE64_RUN.match(joined, start.start()) if _begins_well(head) else None
        if run:
            budget.spend(len(run[0]))
            yield "base64", _unbase64(run[0].translate(_TO_STANDARD, _URL_SAFE))


def _unbase64(text: bytes) -> bytes:
    return binascii.a2b_base64(text[: len(text) // 4 * 4])


def _hex_runs(content: bytes, _budget: Budget) -> Iterator[Layer]:
    for run in _HEX_RUN.finditer(_JOINS.sub(b"", content)):
        digits = _HEX_NOISE.sub(b"", run[0])
        yield "hex", bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))


def _escapes(content: bytes, budget: Budget) -> Iterator[Layer]:
    """The whole text unescaped, and each literal that then begins as something that is recognised there only."""
    if b"\\" not in content:
        return
    joined = _JOINS.sub(b"", content).decode("latin-1")
    marked = _ESCAPE.sub(lambda found: _UNESCAPED[found[0]], joined)
    plain = marked.encode("utf-16-le")[::2]
    yield "escapes", plain
    for start in _QUOTED.finditer(plain):
        quote = marked[start.start()]
        if ord(quote) < _MARK:
            literal = plain[start.end() : marked.find(quote, start.end()) % (len(plain) + 1)]
            budget.spend(len(literal))
            yield "escapes", literal


class _Unescaped(dict[str, str]):
    """The byte of each escape, marked as one that was escaped. There are few thousand of them."""

    def __missing__(self, escape: str) -> str:
        found = _ESCAPE.fullmatch(escape)
        assert found is not None
        hexadecimal, octal, unicode, named = found.groups()
        digits, base = (hexadecimal or unicode, 16) if hexadecimal or unicode else (octal, 8)
        self[escape] = chr(_MARK | (_NAMED[named] if named else int(digits, base) & 0xFF))
        return self[escape]


_UNESCAPED = _Unescaped()


def _arrays(content: bytes, _budget: Budget) -> Iterator[Layer]:
    for run in _ARRAY.finditer(content):
        numbers = (int(h, 16) if h else int(o, 8) if o else int(d) for h, o, d in _ITEM.findall(run[0]))
        yield "array of numbers", bytes(n & 0xFF for n in numbers)


def _begins_well(head: bytes) -> bool:
    return begins_with_code(head) is not None or any(magic.match(head) for magic, _, _ in _PACKED)


def _streams(make: Callable[[], Any]) -> Callable[[bytes, Budget], Iterator[bytes]]:
    """Unpack what packed streams, one after the other, yield before their end or their first fault."""

    def unpack(content: bytes, budget: Budget) -> Iterator[bytes]:
        found, at = bytearray(), 0
        for _ in range(_MOST_STREAMS):
            at = _stream(make(), content, at, found, budget)
            if at >= len(content):
                yield bytes(found)
                return
        raise BudgetError(f"it is packed in more than {_MOST_STREAMS} pieces")

    return unpack


def _stream(one: Any, content: bytes, at: int, found: bytearray, budget: Budget) -> int:
    """Unpack one stream onto `found` with a fresh standard decompressor; where the next one begins, else the end."""
    while at < len(content):
        piece = content[at : at + _PIECE]
        try:
            part = one.decompress(piece, budget.left + 1)
        except _FAULTS:
            return len(content)
        budget.spend(len(part))
        found += part
        at += len(piece)
        if one.eof:
            return at - len(one.unused_data)
    return at


def _unzip(content: bytes, budget: Budget) -> Iterator[bytes]:
    import zipfile  # few submissions need it, and every grading run would wait for it

    faults = (*_FAULTS, zipfile.BadZipFile)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                yield _member(partial(archive.open, member), faults, budget)
    except faults:
        return


def _member(open_it: Callable[[], IO[bytes]], faults: tuple[type[Exception], ...], budget: Budget) -> bytes:
    found = bytearray()
    with contextlib.suppress(*faults), open_it() as stream:
        while part := stream.read(min(_PIECE, budget.left + 1)):
            budget.spend(len(part))
            found += part
    return bytes(found)


_MOST_STREAMS = 256
_PIECE = 512  # a decompressor that meets a fault keeps what the piece before it gave
_FAULTS = (
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)

_PACKED: tuple[tuple[re.Pattern[bytes], str, Callable[[bytes, Budget], Iterator[bytes]]], ...] = (
    (re.compile(rb"\x1f\x8b\x08"), "gzip", _streams(lambda: zlib.decompressobj(31))),
    (re.compile(rb"\x78[\x01\x5e\x9c\xda]"), "zlib", _streams(zlib.decompressobj)),
    (re.compile(rb"BZh[1-9]1AY&SY"), "bzip2", _streams(bz2.BZ2Decompressor)),
    (re.compile(rb"\xfd7zXZ\x00|\x5d\x00\x00[\x00-\xff]{2}", re.DOTALL), "xz", _streams(lzma.LZMADecompressor)),
    (re.compile(rb"PK\x03\x04"), "zip", _unzip),
)
_QUOTED = re.compile(
    rb"[\"'](?=" + b"|".join((AT_START, *(magic.pattern for magic, _, _ in _PACKED))) + rb")", re.DOTALL
)
