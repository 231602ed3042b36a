"""The sandbox protocol: a place with a persistent workspace in which commands run without a network.

Sandboxes build things (the oracle, mutants) and hold agents; single cases go through a launcher.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from programsmith.errors import InputError
from programsmith.payload.verifier.launcher import Mount, Result, View
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.wire import Right

BUBBLEWRAP, DOCKER = "bubblewrap", "docker"
"""The backends, as specs, environments and records name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A root that an engine has, by its id there. It holds Python 3 at /usr/bin.

    `digest` is that of its content; `profile` the system call policy of its containers, if it is not the packaged one.
    """

    id: str
    digest: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    """What a sandbox is made of: a root (a view of this host, or an image), where its writable workspace is inside.

    `writable` are further inside paths that can be written and that outlive a run; /tmp may be one. `mounts` are shown
    read-only; a writable path below one of them must exist in it. `live` are shown read-only and as the host has them
    at any time, sockets too: an engine must be on this host. Writable places of `beside`, an open sandbox of the same
    backend, are shown as well. With a `fence`, rights by path, nothing else is executed, read or written.
    """

    view: View | Image
    workspace: str = "/build"
    writable: tuple[str, ...] = ()
    mounts: tuple[Mount, ...] = ()
    live: tuple[Mount, ...] = ()
    beside: Sandbox | None = None
    fence: tuple[tuple[Right, str], ...] = ()
    env: tuple[tuple[bytes, bytes], ...] = ()


def place_of(at: str, places: Sequence[str]) -> tuple[str, list[str]]:
    """The writable place that holds the inside path `at`, and the parts below it. Raises InputError."""
    place = max((p for p in places if at == p or at.startswith(p.rstrip("/") + "/")), key=len, default=None)
    if place is None:
        raise InputError(f"{at}: wanted a path in the workspace {' or '.join(places)}")
    parts = [p for p in at[len(place) :].split("/") if p and p != "."]
    if ".." in parts:
        raise InputError(f"{at}: leads out of the workspace {place}")
    return place, parts


def program_path(name: bytes) -> str:
    """The path inside of a program that is named as in a command line."""
    text = os.fsdecode(name)
    return text if "/" in text else f"/usr/bin/{text}"


class Sandbox(Protocol):
    """An open sandbox. Closing it ends every process inside and removes all that is writable."""

    name: str

    def run(
        self, argv: tuple[bytes, ...], *, cwd: str, limits: Limits, stdin: bytes = b"", beside: Limits | None = None
    ) -> Result:
        """Run a command in the workspace and wait until all of its processes are gone. Raises InfraError.

        `beside`: what another sandbox of the same trial may use meanwhile.
        """

    def put(self, entries: Iterable[FileEntry], at: str) -> None:
        """Lay entries down below the inside path `at`, which is writable."""

    def take(self, at: str, *, max_files: int, max_bytes: int, cut: bool = False) -> tuple[FileEntry, ...]:
        """Read what lies below `at`, beneath and without following links; caps raise InputError.

        With `cut` the reading ends there instead: the entries then pass a cap by one, or stop at a depth of 256.
        """

    def end(self) -> None:
        """End every process inside; nothing runs in this sandbox any more, and what it wrote stays. Idempotent."""

    def close(self) -> None:
        """End and remove everything. Idempotent."""
