"""The filter's table against the system's own headers, and its shape."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from programsmith.payload.verifier import seccomp

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
TABLE = {**seccomp.DENIED, **seccomp.ABSENT, **seccomp._FILTERED, **seccomp._CODE_MAKING}


@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_numbers_are_those_of_the_headers(machine: str, column: int) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"no {header}: apt-get install -y linux-libc-dev")
    found = dict(re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text(), re.MULTILINE))
    known = {name: numbers[column] for name, numbers in TABLE.items() if name in found}
    assert len(known) > 60
    assert known == {name: int(found[name]) for name in known}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_lands_inside_and_the_last_step_returns(machine: str) -> None:
    code = [struct.unpack_from("<HBBI", step) for step in re.findall(rb"(?s).{8}", seccomp.assemble(machine))]
    assert all(at + 1 + max(yes, no) < len(code) for at, (_, yes, no, _) in enumerate(code[:-1]))
    assert code[-1][0] == 0x06


def answer(code: bytes, audit: int, number: int, *arguments: int) -> int:
    """What a filter says to one call: the same steps as the kernel's interpreter takes."""
    words = struct.pack("<IIQ6Q", number, audit, 0, *arguments, *(0,) * (6 - len(arguments)))
    at, value = 0, 0
    while True:
        kind, yes, no, operand = struct.unpack_from("<HBBI", code, 8 * at)
        at += 1
        match kind:
            case 0x20:
                (value,) = struct.unpack_from("<I", words, operand)
            case 0x06:
                return operand
            case _:
                passed = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[kind]
                at += yes if passed else no


@pytest.mark.parametrize(("machine", "column", "audit"), [("x86_64", 0, 0xC000003E), ("aarch64", 1, 0xC00000B7)])
def test_every_call_gets_the_answer_of_its_table(machine: str, column: int, audit: int) -> None:
    code = seccomp.assemble(machine, seccomp.CASE_FAMILIES)
    allow, refuse = 0x7FFF0000, 0x50000
    wanted = dict.fromkeys(range(600), allow)
    wanted |= {n[column]: refuse | 1 for n in seccomp.DENIED.values() if n[column] is not None}
    wanted |= {n[column]: refuse | 38 for n in seccomp.ABSENT.values() if n[column] is not None}
    for name in ("socket", "socketpair"):
        wanted[seccomp._FILTERED[name][column]] = refuse | 97
    assert {number: answer(code, audit, number) for number in wanted} == wanted
    assert answer(code, audit + 1, 0) == 0x80000000


@pytest.mark.parametrize(
    ("name", "arguments", "allowed"),
    [
        ("socket", (1, 1), False),
        ("socket", (2, 1), False),
        ("socket", (16, 3), False),
        ("socketpair", (1, 1), True),
        ("socketpair", (2, 1), False),
        ("clone", (17,), True),
        ("clone", (0x10000011,), False),
        ("ioctl", (0, 0x5401), True),
        ("ioctl", (0, 0x5412), False),
        ("ioctl", (0, 0x541C), False),
    ],
)
def test_some_calls_depend_on_an_argument(name: str, arguments: tuple[int, ...], allowed: bool) -> None:
    code = seccomp.assemble("x86_64", seccomp.CASE_FAMILIES)
    said = answer(code, 0xC000003E, seccomp._FILTERED[name][0], *arguments)
    assert (said == 0x7FFF0000) == allowed


@pytest.mark.parametrize(
    ("name", "arguments", "allowed"),
    [
        ("mmap", (0, 4096, 3, 0x22), True),
        ("mmap", (0, 4096, 5, 2, 3), True),
        ("mmap", (0, 4096, 7, 0x22), False),
        ("mprotect", (0, 4096, 1), True),
        ("mprotect", (0, 4096, 5), False),
        ("pkey_mprotect", (0, 4096, 3, 0), True),
        ("pkey_mprotect", (0, 4096, 4, 0), False),
        ("personality", (0xFFFFFFFF,), True),
        ("personality", (0,), True),
        ("personality", (0x40000,), True),
        ("personality", (0x400000,), False),
    ],
)
@pytest.mark.parametrize(("machine", "column", "audit"), [("x86_64", 0, 0xC000003E), ("aarch64", 1, 0xC00000B7)])
def test_a_script_makes_no_code(
    machine: str, column: int, audit: int, name: str, arguments: tuple[int, ...], allowed: bool
) -> None:
    number = seccomp._CODE_MAKING[name][column]
    free = seccomp.assemble(machine, seccomp.CASE_FAMILIES)
    held = seccomp.assemble(machine, seccomp.CASE_FAMILIES, makes_code=False)
    assert answer(free, audit, number, *arguments) == 0x7FFF0000
    assert answer(held, audit, number, *arguments) == (0x7FFF0000 if allowed else 0x50001)


@pytest.mark.parametrize(
    ("family", "allowed"), [(1, True), (2, True), (10, True), (16, False), (17, False), (40, False)]
)
def test_a_sandbox_may_make_some_sockets(family: int, allowed: bool) -> None:
    code = seccomp.assemble("x86_64")
    said = answer(code, 0xC000003E, seccomp._FILTERED["socket"][0], family, 1)
    assert (said == 0x7FFF0000) == allowed


def test_an_architecture_without_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no system call table for sparc"):
        seccomp.assemble("sparc")
