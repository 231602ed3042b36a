"""What a compiler may take a source for, by its encoding, its edition and its options: a source has several readings.

In: bytes. Out: readings, of which the first is the usual one; a further one is there only where it differs. What is
hidden from one reading as a comment or a literal is code of another, and a submission says how it is compiled.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

_DOUBLE = ("shift_jis", "gb18030", "big5hkscs", "johab")  # a letter's second byte may be a backslash
_SHIFTED = ("iso2022_jp_2", "iso2022_kr", "hz")  # letters between two marks are any ASCII
_SHIFTS = re.compile(rb"[\x1b\x0e]|~\{")
_BASE64 = re.compile(rb"\+[A-Za-z0-9/]{3}")

_SEAM = re.compile(rb"\\[ \t\v\f\r]*+\n")
_TRIGRAPH = re.compile(rb"\?\?([=/'()!<>-])")
_TRIGRAPHS = dict(zip(b"=/'()!<>-", (bytes([one]) for one in b"#\\^[]|{}~"), strict=True))
_RAW = re.compile(rb'((?:u8|[uUL])?R)(?=")')
_SEPARATOR = re.compile(rb"(?<=[\w.])'(?=\w)")

_ESCAPE = re.compile(rb"\\(?:\\|u+([0-9a-fA-F]{4}))")
_IGNORED = re.compile(rb"[\0-\x08\x0e-\x1b\x7f]++")

_SPACES = re.compile(rb"\xc2\x85|\xe2\x80[\x8e\x8f\xa8\xa9]")
_C_RAW = re.compile(rb'(?<![\w\x80-\xff])cr(?=#*+")')


class Reading(NamedTuple):
    """A source as a compiler takes it; `seams` are offsets where it joined what is apart in a raw literal."""

    content: bytes
    seams: tuple[int, ...] = ()


def of_c(content: bytes) -> Iterator[Reading]:
    """Readings of a source of C or C++: with trigraphs or without, with raw literals and separators or without."""
    for text in _encoded(content):
        for spelled in _with(text, lambda one: _TRIGRAPH.sub(lambda m: _TRIGRAPHS[m[1][0]], one)):
            for parted in _with(spelled, lambda one: _RAW.sub(rb"\1 ", one)):
                for last in _with(parted, lambda one: _SEPARATOR.sub(b" '", one)):
                    yield _joined(last)


def of_java(content: bytes) -> Iterator[Reading]:
    """Readings of a source of Java, as far as words of the language go, which are ASCII."""

    def letter(found: re.Match[bytes]) -> bytes:
        return chr(int(found[1], 16)).encode("utf-8", "surrogatepass") if found[1] else found[0]

    for text in _encoded(content):
        yield Reading(_unmarked(_IGNORED.sub(b"", _ESCAPE.sub(letter, text))))


def of_rust(content: bytes) -> Iterator[Reading]:
    """Readings of a source of Rust: with a first line for the system or without, of either kind of editions."""
    for text in _with(
        content, lambda one: one.partition(b"\n")[2] if one.lstrip(b"\xef\xbb\xbf")[:2] == b"#!" else one
    ):
        for edition in _with(_SPACES.sub(b" ", text), lambda one: _C_RAW.sub(b"cx ", one)):
            yield Reading(edition)


def _with(content: bytes, change: Callable[[bytes], bytes]) -> Iterator[bytes]:
    yield content
    if (changed := change(content)) != content:
        yield changed


def _joined(content: bytes) -> Reading:
    """Lines of C as they go on."""
    parts = _SEAM.split(content)
    seams, at = [], 0
    for part in parts[:-1]:
        at += len(part)
        seams.append(at)
    return Reading(b"".join(parts), tuple(seams))


def _unmarked(content: bytes) -> bytes:
    """Without what a name may have in it and does not count; of a text that is no UTF-8 as it is."""
    if content.isascii():
        return content
    text = content.decode("utf-8", "surrogateescape")
    marks = {ord(one): None for one in {*text} if "\x7f" <= one <= "\x9f" or unicodedata.category(one) == "Cf"}
    return text.translate(marks).encode("utf-8", "surrogateescape") if marks else content


def _encoded(content: bytes) -> Iterator[bytes]:
    """The content as it is, and as UTF-8 for each further encoding that it may be in."""
    yield content
    if b"\0" in content:
        yield content.replace(b"\0", b"")  # UTF-16 and UTF-32, as far as ASCII goes
    encodings = _SHIFTED if _SHIFTS.search(content) else ()
    try:
        content.decode("utf-8")
    except ValueError:
        encodings = (*encodings, *_DOUBLE, "cp037")
    for encoding in encodings:
        yield content.decode(encoding, "replace").encode("utf-8", "replace")
    if _BASE64.search(content):
        with contextlib.suppress(ValueError):
            yield content.decode("utf-7").encode("utf-8", "replace")
