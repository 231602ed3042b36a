"""Dotted versions: order, the specifiers of Python's packaging, and minimums that a source declares.

In: a toolchain and a source. Out: what the source wants and the host has not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TooOld:
    """A demand that this host does not meet."""

    what: str
    wanted: str
    got: str
    where: str


def numbers(version: str) -> tuple[int, ...]:
    """`3.11.2rc1` as (3, 11, 2), without trailing zeros."""
    found = [int(n) for n in re.findall(r"\d+", re.split(r"[a-zA-Z+]", version.strip())[0])]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def dotted(said: bytes) -> str:
    """The first dotted number in what a version command says; empty where there is none."""
    found = re.search(rb"\d+(\.\d+)+", said)
    return found[0].decode("ascii") if found else ""


def at_least(version: str, minimum: str) -> bool:
    """Whether a version is known and not older."""
    return bool(version) and numbers(version) >= numbers(minimum)


def satisfies(version: str, specifiers: str) -> bool:
    """Whether a version meets comma-separated specifiers (`>=3.8,!=3.9.*,<4`). An unknown operator is met."""
    return all(_meets(version, part.strip()) for part in specifiers.split(",") if part.strip())


def _meets(version: str, specifier: str) -> bool:
    found = re.match(r"(~=|===?|!=|<=|>=|<|>)\s*(.+)$", specifier)
    if not found:
        return True
    operator, wanted = found[1], found[2].strip()
    have, want = numbers(version), numbers(wanted.removesuffix(".*"))
    if wanted.endswith(".*"):
        parts = len(re.findall(r"\d+", wanted))
        same = _padded(have, parts) == _padded(want, parts)
        return same if operator.startswith("=") else not same
    parts = len(re.findall(r"\d+", wanted)) - 1
    return {
        ">=": have >= want,
        "<=": have <= want,
        ">": have > want,
        "<": have < want,
        "!=": have != want,
        "==": have == want,
        "===": have == want,
        "~=": have >= want and _padded(have, parts) == _padded(want, parts),
    }[operator]


def _padded(version: tuple[int, ...], parts: int) -> tuple[int, ...]:
    return (*version, *(0,) * parts)[:parts]
