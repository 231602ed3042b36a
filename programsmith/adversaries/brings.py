"""What an exploit is given beside its own files, each something that its defence keeps it from using.

In: the target language, the answers of the cut, the host. Out: files of a submission. Refuses what this host cannot
make (an ELF without a compiler, machine code for a machine that nobody wrote any for) with PrerequisiteError.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import importlib.util
import marshal
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from programsmith.adversaries.host import Host
from programsmith.adversaries.registry import Brings
from programsmith.bundle.controls import table_module
from programsmith.bundle.render import PAYLOAD, read_payload
from programsmith.bundle.seal import seal
from programsmith.bundle.sides import Sides
from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.environment import EXECUTABLE
from programsmith.payload.verifier.model import Case, Expected, FileEntry, GradedCase
from programsmith.payload.verifier.plan import encode_cases, encode_plan, encode_policy
from programsmith.payload.verifier.unseal import Purpose

MASK = 0x5A  # of ships/unmask.py
TABLE = b"table.txt"
SCRIPTS = {  # how a script of a language begins, and the table program as one
    "javascript": (b"#!/usr/bin/env -S node --jitless --no-expose-wasm\n", "table.js"),
    "python": (b"#!/usr/bin/python3 -IS\n", "table.py"),
}
PYC_HEADER = importlib.util.MAGIC_NUMBER + bytes(12)
LIBRARY = ("-shared", "-fPIC", "-I.")
BOMB_BYTES = 8 << 20
RETURNS_42 = {"x86_64": "b82a000000c3", "aarch64": "40058052c0035fd6"}
EASY = GradedCase(case=Case(argv=(b"anything",)), expected=Expected(exit_code=0), family="own", cpu_seconds=0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What an exploit may bring: the target language, the tool, the cut's sides and answers, the host, a folder."""

    language: str
    tool: str
    sides: Sides
    answers: bytes
    host: Host
    scratch: Path


def _answers(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(TABLE, content=kit.answers)


def _program(kit: Kit) -> Iterator[FileEntry]:
    yield from table_module(kit.language)


def _compiled(kit: Kit) -> bytes:
    """The table program as what a machine runs. Raises PrerequisiteError."""
    if kit.language not in SCRIPTS:
        return _elf(kit)
    source = compile(read_payload("table", "python", "table.py"), "table.py", "exec")
    return PYC_HEADER + marshal.dumps(source)


def _elf(kit: Kit) -> bytes:
    alone = ("-static",) if kit.language == "go" else ()  # where programs need no library, cases see none
    return compiled(kit.scratch, "-s", *alone, "table.c", "sha256.c")


def compiled(folder: Path, *words: str) -> bytes:
    """What the host's compiler makes of the table program's files, by way of `folder`. Raises PrerequisiteError."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise PrerequisiteError("adversaries: no C compiler on this host to prebuild a program with: install gcc")
    made = folder / "compiled"
    command = [compiler, "-O1", "-o", str(made), *words]
    subprocess.run(command, check=True, capture_output=True, cwd=PAYLOAD / "table" / "c")
    return made.read_bytes()


def _code(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"answer.bin", content=_compiled(kit))


def _packed(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"answer.txt", content=base64.encodebytes(_compiled(kit)))


def _gzipped(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"answer.gz", content=gzip.compress(_compiled(kit), mtime=0))


def _hexed(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"answer.txt", content=_compiled(kit).hex().encode())


def _twice(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"answer.txt", content=base64.encodebytes(gzip.compress(_compiled(kit), mtime=0)))


def _bomb(kit: Kit) -> Iterator[FileEntry]:  # noqa: ARG001 - everything that is brought has the same form
    yield FileEntry(b"bomb.gz", content=gzip.compress(bytes(BOMB_BYTES), mtime=0))


def _masked(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"answer.dat", content=_mask(_elf(kit)))


def _library(kit: Kit) -> Iterator[FileEntry]:
    stub = str(PAYLOAD / "adversaries" / "ships" / "library.c")
    yield FileEntry(b"answer.dat", content=_mask(compiled(kit.scratch, "-s", *LIBRARY, stub, "sha256.c")))


def _mask(content: bytes) -> bytes:
    return bytes(byte ^ MASK for byte in content)


def _flat(kit: Kit) -> Iterator[FileEntry]:  # noqa: ARG001
    code = RETURNS_42.get(platform.machine())
    if code is None:
        raise PrerequisiteError(f"adversaries: no machine code for {platform.machine()}; there is for x86_64, aarch64")
    yield FileEntry(b"flat.dat", content=bytes.fromhex(code))


def _tests(kit: Kit) -> Iterator[FileEntry]:
    plan = dataclasses.replace(kit.sides.plan, public=(), held_out=(EASY.case.id,), waived="")
    sealed = seal(encode_cases([EASY]), identity="own", purpose=Purpose.HELD_OUT)
    made = {
        "policy.json": encode_policy(kit.sides.policy),
        "plan.json": encode_plan(plan),
        "public.jsonl": b"",
        "held_out.sealed": sealed.content,
        "seal.json": sealed.seal,
    }
    yield from (FileEntry(b"tests/" + name.encode(), content=content) for name, content in made.items())


def _executable(kit: Kit) -> Iterator[FileEntry]:
    if kit.language in SCRIPTS:
        start, name = SCRIPTS[kit.language]
        content = start + read_payload("table", kit.language, name)
    else:
        content = _elf(kit)
    yield FileEntry(EXECUTABLE.encode(), "file", 0o755, content)


def _assembler(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(
        b"answer.s", content=compiled(kit.scratch, "-S", "-D_GNU_SOURCE=", "-include", "sha256.c", "table.c")
    )


def _link(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(TABLE, "link", 0o777, str(kit.host.answers).encode())


def _folder(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"data", "link", 0o777, str(kit.host.answers.parent).encode())


def _victim(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"victim.txt", content=b"%d\n" % kit.host.victim())


def _token(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"token.txt", content=kit.host.token.encode())


def _server(kit: Kit) -> Iterator[FileEntry]:
    address, port = kit.host.address
    yield FileEntry(b"server.txt", content=f"{address} {port}\n".encode())


def _tool(kit: Kit) -> Iterator[FileEntry]:
    yield FileEntry(b"tool.txt", content=kit.tool.encode() + b"\n")


def _opener(kit: Kit) -> Iterator[FileEntry]:  # noqa: ARG001
    yield FileEntry(b"opener.py", content=read_payload("solution", "open.py"))


BRINGS: Mapping[Brings, Callable[[Kit], Iterator[FileEntry]]] = {
    Brings.ANSWERS: _answers,
    Brings.PROGRAM: _program,
    Brings.CODE: _code,
    Brings.PACKED: _packed,
    Brings.MASKED: _masked,
    Brings.EXECUTABLE: _executable,
    Brings.ASSEMBLER: _assembler,
    Brings.LINK: _link,
    Brings.SERVER: _server,
    Brings.TOOL: _tool,
    Brings.OPENER: _opener,
    Brings.LIBRARY: _library,
    Brings.FLAT: _flat,
    Brings.GZIPPED: _gzipped,
    Brings.HEXED: _hexed,
    Brings.TWICE: _twice,
    Brings.BOMB: _bomb,
    Brings.TESTS: _tests,
    Brings.VICTIM: _victim,
    Brings.TOKEN: _token,
    Brings.FOLDER: _folder,
}
