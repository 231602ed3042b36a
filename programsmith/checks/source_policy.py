"""The verifier holds submissions to the policy: nothing but source comes in, and nothing from outside comes along.

Handed in are machine code as it is and in an encoding, assembler, the source of another language, one that holds
another language, and a compile.sh that is a link to one outside. Each must end before its build. Where the language is
interpreted, a build that leaves machine code must end with it.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from typing import Any

from programsmith.bundle.render import read_payload
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.stages import graded, some
from programsmith.payload.verifier.environment import COMPILE
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.words import BuildWord

ELF = b"\x7fELF\x02\x01\x01" + bytes(range(256))
SCRIPT = COMPILE.encode()
FAILING = FileEntry(SCRIPT, "file", 0o755, b"exit 1\n")
WITHIN = {  # a line of each language that takes another one in
    ".java": b'class A {{ System.load("/a"); }}\n',
    ".rs": b'std::arch::global_asm!("");\n',
}
LINK, BUILT = "a link to a file outside", "machine code that a build leaves"


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Hand each in and compare the word of its build."""
    given = refused(scene.sides.policy.refused_suffixes)
    wanted = dict.fromkeys(given, BuildWord.POLICY)
    outside = scene.scratch / "outside"
    outside.write_bytes(FAILING.content)
    given[LINK], wanted[LINK] = (FileEntry(SCRIPT, "link", 0o777, str(outside).encode()),), BuildWord.NO_BUILD
    if not scene.sides.policy.compiled:
        script = FileEntry(SCRIPT, "file", 0o755, read_payload("probes", "leaves_code.sh"))
        given[BUILT], wanted[BUILT] = (script,), BuildWord.POLICY
    got = graded(scene, given, some(scene, 1))
    words = {name: one.grade.word for name, one in got.items()}
    found = [
        f"tests/verify.pyz: {name}: wanted {wanted[name]}, got {words[name]}"
        for name in given
        if words[name] != wanted[name]
    ]
    if BUILT in got and got[BUILT].grade.details["refused"]:
        found.append(f"tests/verify.pyz: {BUILT}: wanted its source accepted, got {got[BUILT].grade.reason}")
    return Row(
        passed=not found,
        reason=first(found, f"{len(given)} submissions that are not source are refused", "policy"),
        evidence={"faults": found, "words": words},
    )


def refused(suffixes: tuple[str, ...]) -> dict[str, tuple[FileEntry, ...]]:
    """Submissions that the policy refuses, by what is wrong with them."""
    odd = {
        "machine code": FileEntry(b"answer.bin", content=ELF),
        "machine code in an encoding": FileEntry(
            b"answer.txt", content=base64.encodebytes(gzip.compress(ELF, mtime=0))
        ),
        "assembler": FileEntry(b"answer.s", content=b"\t.text\n"),
    }
    if suffixes:
        odd["the source of another language"] = FileEntry(b"answer" + suffixes[0].encode(), content=b"\n")
    own = {suffix: line for suffix, line in WITHIN.items() if suffix not in suffixes}
    odd |= {f"another language within *{s}": FileEntry(f"within{s}".encode(), content=own[s]) for s in own}
    return {name: (FAILING, entry) for name, entry in odd.items()}
