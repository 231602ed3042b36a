"""The sandbox protocol: a place with a persistent workspace in which commands run without a network.

Sandboxes build things (the oracle, mutants) and hold agents; single cases go through a launcher.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from programsmith.payload.verifier.launcher import Mount, Result, View
from programsmith.payload.verifier.model import FileEntry, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    """What a sandbox is made of: a root view, and where its writable workspace appears inside.

    `writable` are further inside paths that can be written and that outlive a run. `mounts` are shown read-only; a
    writable path below one of them must exist in it.
    """

    view: View
    workspace: str = "/build"
    writable: tuple[str, ...] = ()
    mounts: tuple[Mount, ...] = ()
    env: tuple[tuple[bytes, bytes], ...] = ()


class Sandbox(Protocol):
    """An open sandbox. Closing it ends every process inside and removes all that is writable."""

    name: str

    def run(self, argv: tuple[bytes, ...], *, cwd: str, limits: Limits, stdin: bytes = b"") -> Result:
        """Run a command in the workspace and wait until all of its processes are gone. Raises InfraError."""

    def put(self, entries: Iterable[FileEntry], at: str) -> None:
        """Lay entries down below the inside path `at`, which is writable."""

    def take(self, at: str, *, max_files: int, max_bytes: int, cut: bool = False) -> tuple[FileEntry, ...]:
        """Read what lies below `at`, beneath and without following links; caps raise InputError.

        With `cut` the reading ends there instead: the entries then pass a cap by one, or stop at a depth of 256.
        """

    def host_path(self, at: str) -> Path:
        """Where the inside path lies on the host, for bulk work on trusted trees."""

    def end(self) -> None:
        """End every process inside; nothing runs in this sandbox any more, and what it wrote stays. Idempotent."""

    def close(self) -> None:
        """End and remove everything. Idempotent."""
