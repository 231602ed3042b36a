"""The sandbox protocol: a place with a persistent workspace in which commands run without a network.

Sandboxes build things (the oracle, mutants) and hold agents; single cases go through a launcher.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from programsmith.payload.verifier.launcher import Result, View
from programsmith.payload.verifier.model import FileEntry, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    """What a sandbox is made of: a root view, and where its writable workspace appears inside."""

    view: View
    workspace: str = "/build"
    env: tuple[tuple[bytes, bytes], ...] = ()


class Sandbox(Protocol):
    """An open sandbox. Closing it ends every process inside and removes the workspace."""

    name: str

    def run(self, argv: tuple[bytes, ...], *, cwd: str, limits: Limits, stdin: bytes = b"") -> Result:
        """Run a command in the workspace and wait until all of its processes are gone. Raises InfraError."""

    def put(self, entries: Iterable[FileEntry], at: str) -> None:
        """Lay entries down below the inside path `at`, which lies in the workspace."""

    def take(self, at: str, *, max_files: int, max_bytes: int) -> tuple[FileEntry, ...]:
        """Read what lies below `at`, beneath and without following links; caps raise InputError."""

    def host_path(self, at: str) -> Path:
        """Where the inside path lies on the host, for bulk work on trusted trees."""

    def close(self) -> None:
        """End and remove everything. Idempotent."""
