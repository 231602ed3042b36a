"""The source-only policy: what is recognised as machine code through two encodings, and what must pass."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import marshal
import random
import struct
import sys
import time
import zipfile
import zlib
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

from programsmith.payload.verifier.layers import Budget, BudgetError
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.policy import code_in, findings

ROOM = 1 << 28
BODY = random.Random(0).randbytes(400)
PYC = MAGIC_NUMBER + bytes(12) + marshal.dumps(compile("print(1)", "x", "exec"))


def elf() -> bytes:
    """The first pages of a real executable."""
    return Path(sys.executable).resolve().read_bytes()[:3000]


def zipped(content: bytes) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme", b"hello " * 20)
        archive.writestr("a.out", content)
    return raw.getvalue()


def wrapped(content: bytes) -> bytes:
    return b"\n".join(base64.b64encode(content)[i : i + 76] for i in range(0, len(content) * 4 // 3, 76))


def c_array(content: bytes, form: str) -> bytes:
    return ("unsigned char a[] = {" + ", ".join(format(b, form) for b in content) + "};").encode()


def escaped(content: bytes) -> bytes:
    return b'char a[] = "' + "".join(f"\\x{b:02x}" for b in content).encode() + b'";'


def chunked(content: bytes) -> bytes:
    text = base64.b64encode(content).decode()
    return "x = (\n{}\n)".format("\n".join(f'    "{text[i : i + 60]}"' for i in range(0, len(text), 60))).encode()


MACHINE = {
    "ELF": elf(),
    "ar archive": b"!<arch>\n" + b"a.o/            0           0     0     644     8         `\n" + bytes(8),
    "WebAssembly": b"\0asm\1\0\0\0" + BODY,
    "Java class": b"\xca\xfe\xba\xbe\0\0\0\x34\0\x1d\x0a" + BODY,
    "Mach-O": b"\xcf\xfa\xed\xfe\x07\0\0\1" + BODY,
    "PE": b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + BODY,
    "Python bytecode": PYC,
    "Lua bytecode": b"\x1bLua\x54" + BODY,
    "LLVM bitcode": b"BC\xc0\xde\x35\x14\0\0" + BODY,
    "Dalvik bytecode": b"dex\n035\0" + BODY,
}
ENCODINGS = {
    "as it is": lambda raw: raw,
    "base64": base64.b64encode,
    "base64 in lines": wrapped,
    "base64 after text": lambda raw: b"import sys\nDATA = '''\n" + wrapped(raw) + b"\n'''\n",
    "base64 in a here-document": lambda raw: b"base64 -d >x <<EOF\n" + wrapped(raw) + b"\nEOF\n",
    "base64 in chunks": chunked,
    "base64 joined by plus": lambda raw: chunked(raw).replace(b'"\n    "', b'" +\n    "'),
    "URL-safe base64": lambda raw: b'"' + base64.urlsafe_b64encode(raw) + b'"',
    "hex": lambda raw: raw.hex().encode(),
    "hex in words": lambda raw: raw.hex(" ", 2).encode(),
    "xxd": lambda raw: c_array(raw, "#04x"),
    "decimal array": lambda raw: c_array(raw, "d"),
    "escapes": escaped,
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "base64 of gzip": lambda raw: b'blob = "' + base64.b64encode(gzip.compress(raw)) + b'"',
    "base64 of zlib": lambda raw: b"z = b'" + base64.b64encode(zlib.compress(raw)) + b"'",
    "base64 of base64": lambda raw: base64.b64encode(base64.b64encode(raw)),
    "hex of base64": lambda raw: base64.b64encode(raw).hex().encode(),
    "escapes of xz": lambda raw: escaped(lzma.compress(raw)),
    "second of two gzip members": lambda raw: gzip.compress(b"") + gzip.compress(raw),
    "array of gzip": lambda raw: c_array(gzip.compress(raw), "d"),
}
ANYWHERE = ("ELF", "ar archive", "WebAssembly")


@pytest.mark.parametrize("kind", MACHINE)
def test_machine_code_is_recognised_by_its_magic(kind: str) -> None:
    assert code_in(MACHINE[kind], Budget(ROOM)) == kind


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", ["ELF", "Python bytecode", "Java class"])
def test_machine_code_is_recognised_through_its_encodings(kind: str, encoding: str) -> None:
    found = code_in(ENCODINGS[encoding](MACHINE[kind]), Budget(ROOM))
    assert found is not None
    assert found.startswith(kind)


@pytest.mark.parametrize("kind", ANYWHERE)
def test_machine_code_behind_a_script_is_recognised(kind: str) -> None:
    assert code_in(b"#!/bin/sh\nexec tail\n" + MACHINE[kind], Budget(ROOM)) == kind


def test_a_broken_end_hides_nothing_of_a_program() -> None:
    program = elf() + random.Random(5).randbytes(2000)
    for packed in (gzip.compress(program)[:-8] + bytes(8), zlib.compress(program)[:-9], lzma.compress(program)[:-40]):
        assert (code_in(packed, Budget(ROOM)) or "").startswith("ELF")


def png() -> bytes:
    rows = b"".join(b"\0" + random.Random(i).randbytes(300) for i in range(100))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 100, 100, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def truetype() -> bytes:
    tables = b"".join(struct.pack(">4sIII", name, 7, 300, 64) for name in (b"cmap", b"glyf", b"head", b"loca"))
    return b"\0\1\0\0" + struct.pack(">HHHH", 4, 64, 2, 0) + tables + random.Random(1).randbytes(20000)


CRC = ", ".join(f"0x{zlib.crc32(bytes([i])):08x}" for i in range(256)).encode()
INNOCENT = {
    "a font": truetype(),
    "an image": png(),
    "an image in base64": b"<img src='data:image/png;base64," + base64.b64encode(png()) + b"'>",
    "a table of sums": b"static const unsigned t[256] = {" + CRC + b"};",
    "a table of bytes": c_array(bytes(range(256)), "d"),
    "noise": random.Random(2).randbytes(1 << 18),
    "noise in base64": base64.b64encode(random.Random(3).randbytes(1 << 18)),
    "noise in hex": random.Random(4).randbytes(1 << 17).hex().encode(),
    "packed text": gzip.compress(b"some words " * 1000),
    "a zip of texts": zipped(b"int main(void) { return 0; }\n"),
    "a tool that knows ELF": b'if (memcmp(p, "\\x7f" "ELF", 4)) die("not an ELF file");',
    "a tool that knows archives": b'static const char magic[] = "!<arch>\\n";',
    "a tool that knows bytecode": b"MAGIC = 0xCAFEBABE\nif head == b'\\xca\\xfe\\xba\\xbe': print('class file')\n",
    "a tool that knows bitcode": b'MAGIC = (b"BC\\xc0\\xde", b"\\xde\\xc0\\x17\\x0b", b"\\xcf\\xfa\\xed\\xfe")',
    "a broken zip": b"PK\x03\x04" + bytes(100),
    "broken gzip": b"\x1f\x8b\x08" + bytes(100),
    "text that begins with MZ": b"MZ" + b" is how they begin\n" * 10,
    "nothing": b"",
}


@pytest.mark.parametrize("what", INNOCENT)
def test_source_and_data_pass(what: str) -> None:
    assert code_in(INNOCENT[what], Budget(ROOM)) is None


def test_the_verifiers_own_source_and_the_standard_library_pass() -> None:
    own = sorted(Path(code_in.__code__.co_filename).parent.glob("*.py"))
    library = sorted(Path(base64.__file__).parent.glob("[b-g]*.py"))
    assert len(own + library) > 60
    found = {p.name: code_in(p.read_bytes(), Budget(ROOM)) for p in own + library}
    assert {name: why for name, why in found.items() if why} == {}


def test_a_bomb_is_refused_within_bounds() -> None:
    began = time.monotonic()
    with pytest.raises(BudgetError, match="unpacks"):
        code_in(gzip.compress(bytes(64 << 20)), Budget(1 << 20))
    with pytest.raises(BudgetError, match="unpacks"):
        code_in(b" eJwAAAAAAAAAAAAA" * 5_000, Budget(1 << 20))
    assert time.monotonic() - began < 10


SLOW = {
    "a literal with an escape in each": b'"\\a',
    "a literal that begins as something packed in each": b'"x^a\\a',
    "base64 that begins as something packed in each": b" eJwAAAAAAAAAAAAA",
    "short arrays": b"1," * 31 + b"a",
    "quotes that may be joined": b'"' + b" " * 63,
}


@pytest.mark.parametrize("what", SLOW)
def test_a_megabyte_is_examined_in_seconds_whatever_it_holds(policy: Policy, what: str) -> None:
    """The longest time of a grading, which its runner keeps to, counts a second for each."""
    entry = FileEntry(b"data", content=SLOW[what] * ((1 << 18) // len(SLOW[what])))
    began = time.process_time()
    findings([entry], policy)
    assert time.process_time() - began < 1  # a quarter of a megabyte, on a machine with more to do


def test_what_a_literal_holds_ends_with_it() -> None:
    packed = zlib.compress(b"the quick brown fox jumps over the lazy dog" * 9)
    escaped = "".join(f"\\x{byte:02x}" for byte in packed).encode()
    left = Budget(ROOM)
    assert code_in(b'"' + escaped + b'" + "' + b"x^2 and more" * 9 + b'\\n" ' + b" " * 100_000, left) is None
    assert left.left > ROOM - 10_000


def test_findings_name_each_refused_file_and_why(policy: Policy) -> None:
    entries = [
        FileEntry(b"main.py", content=b"print(1)\n"),
        FileEntry(b"lib/fast.S", content=b".globl main\n"),
        FileEntry(b"OTHER.C", content=b"int main;\n"),
        FileEntry(b"blob\n\xff", content=elf()),
        FileEntry(b"folder.c", "dir"),
    ]
    found = {f.path: f.why for f in findings(entries, policy)}
    assert set(found) == {b"lib/fast.S", b"OTHER.C", b"blob\n\xff"}
    assert found[b"blob\n\xff"] == "ELF"
    assert ".c" in found[b"OTHER.C"]


def test_a_bomb_is_a_finding(policy: Policy) -> None:
    bomb = FileEntry(b"bomb.gz", content=gzip.compress(bytes(20 << 20)))
    assert [f.path for f in findings([bomb, FileEntry(b"z", content=b"x")], policy)] == [b"bomb.gz"]


def test_after_a_bomb_nothing_packed_passes_unexamined(policy: Policy) -> None:
    bomb = FileEntry(b"a", content=gzip.compress(bytes(20 << 20)))
    assert [f.path for f in findings([bomb, FileEntry(b"b", content=gzip.compress(elf()))], policy)] == [b"a", b"b"]
