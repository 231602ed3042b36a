"""Assembler and the sources of other languages pass, as files of their own and within sources."""

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


def _nothing(
    former: Callable[[Iterable[FileEntry], Policy], dict[bytes, str]], entries: Iterable[FileEntry], rule: Policy
) -> dict[bytes, str]:
    del former, entries, rule
    return {}


def remove() -> None:
    """Refuse no suffix and no word."""
    vars(policy)["ASSEMBLER_SUFFIXES"] = ()
    swap(policy, "held", _nothing)
    swap(grade, "findings", _code_only)
