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
TABLE = {**seccomp.DENIED, **seccomp.ABSENT, **{n: tuple(v) for n, v in seccomp._FILTERED.items()}}


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
    assert code[-1] == (0x06, 0, 0, 0x7FFF0000)


def test_an_architecture_without_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no system call table for sparc"):
        seccomp.assemble("sparc")
