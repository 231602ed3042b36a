"""One run of a verifier in a container of its own: what is graded goes in as a volume, the verifier's files come out.

In: an image, a command, trees by the place that they have inside. Out: how it ended and what lies in /logs/verifier,
read as hostile. The container is fresh, and gone with its volumes afterwards; no container of an agent is touched here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes import docker_archives
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.docker_container import (
    Ended,
    Plan,
    create,
    make_volume,
    remove_container,
    remove_volume,
    run,
)
from programsmith.sandboxes.docker_reaper import reap

OUT = "/logs/verifier"
TEMPORARY = "/tmp"  # noqa: S108 - a place inside; the grader's, on disk
CLOSED = FileEntry(b".", "dir", 0o700)
"""The top of what is shown is the grader's alone; it opens what a case may see."""
_SAID = 1 << 20  # bytes of each stream that are kept
_LEFT_FILES, _LEFT_BYTES = 64, 256 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """A verifier's container: its image, its limits, places that are a tmpfs with their options, empty volumes."""

    image: Image
    workdir: str
    memory_bytes: int
    pids: int
    cpus: float
    scratch: Mapping[str, str]
    writable: tuple[str, ...] = ()


def verify(
    verifier: Verifier, command: Sequence[str], shown: Mapping[str, Path], env: Mapping[str, str], seconds: float
) -> tuple[Ended, tuple[FileEntry, ...]]:
    """Run the command; `shown` are folders by their place inside, which is writable. Raises InfraError."""
    reap()
    volumes: dict[str, tuple[str, bool]] = {}
    container = ""
    try:
        for place in dict.fromkeys((*shown, *verifier.writable, OUT, TEMPORARY)):
            volumes[place] = make_volume(), True
        container = create(
            Plan(
                image=verifier.image.id,
                command=command,
                workdir=verifier.workdir,
                memory_bytes=verifier.memory_bytes,
                pids=verifier.pids,
                cpus=verifier.cpus,
                volumes=volumes,
                scratch=verifier.scratch,
                environment=env,
                profile=verifier.image.profile,
            )
        )
        for place, folder in shown.items():
            tree = docker_archives.tree_of(folder, foreign=place == SUBMISSION)
            docker_archives.fill(container, place, [CLOSED, *tree], 0)
        ended = run(container, b"", _SAID, seconds)
        return ended, docker_archives.take(container, OUT, max_files=_LEFT_FILES, max_bytes=_LEFT_BYTES)
    finally:
        if container:
            remove_container(container)
        for volume, _ in volumes.values():
            remove_volume(volume)
