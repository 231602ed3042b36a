"""The source-only policy: what was handed in must be source and data, and nothing that a machine runs as it is.

Machine code and bytecode are recognised by magic, plain or packed in up to two encodings; assembler and the sources
of languages that the task does not allow, by suffix; so is what a source holds of another language, by what its own
language has for that. Fonts, tables and images pass. That a program in another language cannot build or run at
all is the views' doing: they hold no toolchain but the allowed ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from programsmith.payload.verifier.layers import Budget, BudgetError, layers
from programsmith.payload.verifier.magic import machine_code
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy
from programsmith.payload.verifier.within import held

ASSEMBLER_SUFFIXES = (b".s", b".sx", b".asm", b".nasm", b".inc.s")
_DEEPEST = 2  # encodings one in the other that are undone
_UNPACKED = 4  # times the bytes that a submission may have


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One file that the policy refuses, and why."""

    path: bytes
    why: str


def findings(entries: Iterable[FileEntry], policy: Policy) -> tuple[Finding, ...]:
    """Every file that the policy refuses, in path order."""
    refused = tuple(s.encode() for s in policy.refused_suffixes) + ASSEMBLER_SUFFIXES
    budget = Budget(_UNPACKED * policy.submission.bytes)
    found, files = [], sorted(e for e in entries if e.kind == "file")
    within = held(files, policy)
    for entry in files:
        suffix = next((s for s in refused if entry.path.lower().endswith(s)), None)
        why = f"*{suffix.decode('ascii', 'replace')} is no source of this task" if suffix else None
        why = why or (f"it holds {within[entry.path]}" if entry.path in within else _code(entry, budget))
        if why is not None:
            found.append(Finding(path=entry.path, why=why))
    return tuple(found)


def _code(entry: FileEntry, budget: Budget) -> str | None:
    try:
        return code_in(entry.content, budget)
    except BudgetError as fault:
        return str(fault)


def code_in(content: bytes, budget: Budget, depth: int = _DEEPEST) -> str | None:
    """What machine code `content` holds, with the encodings around it; None where it holds none. Raises BudgetError."""
    plain = machine_code(content)
    if plain is not None or depth == 0:
        return plain
    for encoding, inner in layers(content, budget):
        deeper = code_in(inner, budget, depth - 1)
        if deeper is not None:
            return f"{deeper} in {encoding}"
    return None
