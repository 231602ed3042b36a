"""A grader shows nothing of itself and takes nothing in: its key is gone, nobody may trace it, it imports nothing near.

The bundle's verifier is started with a key, in a folder full of modules that would tell if they were imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.checks.asked import asked
from programsmith.checks.base import Row, Scene, first


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare what the system shows of it."""
    got = asked(scene)
    facts = {
        "wanted its key cleared, got it in what the system shows of the process": _holds(got.environment, got.secret),
        "wanted a process that nobody may trace, got one that is dumpable": got.dumpable,
        "wanted no module of the submission imported, got one": got.imported,
    }
    found = [f"tests/verify.pyz: {fault}" for fault, holds in facts.items() if holds]
    return Row(
        passed=not found,
        reason=first(found, "a grader shows nothing and takes nothing in", "grader"),
        evidence={"faults": found},
    )


def _holds(environment: bytes, secret: bytes) -> bool:
    return secret.hex().encode() in environment
