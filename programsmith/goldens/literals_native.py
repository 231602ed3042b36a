"""String literals of Go and Rust sources, as the program holds them. Pure; nothing is parsed beyond tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from programsmith.sources.tree import SourceTree

_GO = re.compile(
    rb"//[^\n]*|/\*.*?\*/|'(?:[^'\\\n]|\\.)+'|`(?P<raw>[^`]*)`|\"(?P<text>(?:[^\"\\\n]|\\.)*)\"", re.DOTALL
)
_RUST = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\br(?P<hashes>\#{0,8})\"(?P<raw>.*?)\"(?P=hashes)|'(?:[^'\\\n]{1,4}|\\[^'\n]{1,9})'"
    rb"|\"(?P<text>(?:[^\"\\]|\\.)*)\"",
    re.DOTALL,
)
_ESCAPE = re.compile(
    rb"\\(?:x([0-9A-Fa-f]{2})|([0-7]{3})|u\{([0-9A-Fa-f_]+)\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(\n\s*)|(.))",
    re.DOTALL,
)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"0": b"\0"}
_LAST = 0x10FFFF


def _reader(tokens: re.Pattern[bytes], suffix: bytes) -> Callable[[SourceTree], Iterator[bytes]]:
    def texts(source: SourceTree) -> Iterator[bytes]:
        for entry in source.files(suffix):
            for found in tokens.finditer(entry.content):
                if found["raw"] is not None:
                    yield found["raw"]
                elif found["text"] is not None:
                    yield _ESCAPE.sub(_unescaped, found["text"])

    return texts


go_texts = _reader(_GO, b".go")
rust_texts = _reader(_RUST, b".rs")


def _unescaped(found: re.Match[bytes]) -> bytes:
    byte, octal, braced, short, long, fold, letter = found.groups()
    if fold is not None:
        return b""
    if letter is not None:
        return _LETTERS.get(letter, letter)
    if byte is not None or octal is not None:
        return bytes([(int(byte, 16) if byte is not None else int(octal, 8)) & 0xFF])
    code = int((braced or short or long).replace(b"_", b"") or b"0", 16)
    return chr(code).encode("utf-8", "surrogatepass") if code <= _LAST else b""
