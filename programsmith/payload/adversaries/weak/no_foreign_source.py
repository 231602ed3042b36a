"""Assembler and the sources of other languages pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade, policy
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy

Findings = tuple[policy.Finding, ...]


def _code_only(
    former: Callable[[Iterable[FileEntry], Policy], Findings], entries: Iterable[FileEntry], rule: Policy
) -> Findings:
    return former(entries, dataclasses.replace(rule, refused_suffixes=()))


def remove() -> None:
    """Refuse no suffix."""
    vars(policy)["ASSEMBLER_SUFFIXES"] = ()
    swap(grade, "findings", _code_only)
