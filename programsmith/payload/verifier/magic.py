"""What a machine or a virtual machine runs, recognised by magic in raw bytes; never by entropy.

Some kinds are looked for anywhere (their header is long enough that no table or image holds it by chance), the
others at the start only.
"""

from __future__ import annotations

import re

ELF = "ELF"

# ELF: class 1 or 2, byte order 1 or 2, version 1. ar: a first member's header ends 58 bytes after the magic.
_ANYWHERE = (
    (ELF, re.compile(rb"\x7fELF[\x01\x02][\x01\x02]\x01")),
    ("ar archive", re.compile(rb"!<(?:arch|thin)>\n[\x20-\x7e]{58}`\n")),
    ("WebAssembly", re.compile(rb"\x00asm[\x01\x02]\x00\x00\x00")),
)
_MACHINES = rb"(?:[\x07\x0c\x12]\x00\x00[\x00\x01]|[\x00\x01]\x00\x00[\x07\x0c\x12])"
_AT_START = (
    ("LLVM bitcode", re.compile(rb"BC\xc0\xde[\x21\x35][\x0c\x14]\x00\x00|\xde\xc0\x17\x0b\x00{4}")),
    ("Mach-O", re.compile(rb"(?:\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe)" + _MACHINES)),
    ("Mach-O", re.compile(rb"\xca\xfe\xba\xbe\x00\x00\x00[\x01-\x14]" + _MACHINES)),
    (
        "Java class",
        re.compile(rb"\xca\xfe\xba\xbe(?:\x00[\x00\x03]|\xff{2})\x00[\x2d-\x60].{2}[\x01\x03-\x14]", re.DOTALL),
    ),
    ("Python bytecode", re.compile(rb"(?:[\x00-\xff][\x0b-\x0f]|\x03\xf3)\r\n[\x00-\x03]\x00\x00\x00", re.DOTALL)),
    ("Lua bytecode", re.compile(rb"\x1bLua[\x50-\x5f]|\x1bLJ[\x01-\x02]")),
    ("Dalvik bytecode", re.compile(rb"dex\n0[0-9]{2}\x00")),
)
AT_START = b"|".join(magic.pattern for _, magic in _AT_START)
"""A pattern, under DOTALL, of what is recognised at the start only; PE apart, which no pattern tells."""
_PE_OFFSET = slice(0x3C, 0x40)


def machine_code(content: bytes) -> str | None:
    """The kind of machine code or bytecode that `content` is or holds; None where it is neither."""
    return begins_with_code(content) or next((kind for kind, magic in _ANYWHERE if magic.search(content)), None)


def begins_with_code(content: bytes) -> str | None:
    """The kind of machine code or bytecode that `content` begins as; None where it does not."""
    if content[:2] == b"MZ":
        at = int.from_bytes(content[_PE_OFFSET], "little")
        if content[at : at + 4] == b"PE\0\0":
            return "PE"
    return next((kind for kind, magic in (*_AT_START, *_ANYWHERE) if magic.match(content)), None)
