"""A bundle on disk: its folders by name, its files as one mapping, names that every consumer can carry.

In: a folder. Out: path to bytes, in path order. Refuses links, devices and what a bundle cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from programsmith.errors import InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import Caps, TreeError, read_tree, write_tree

CAPS = Caps(files=1_000_000, bytes=1 << 32, depth=64)
APP = "environment/app/"
DOCS = APP + "docs/"
CASES = APP + "cases/"
PUBLIC = APP + "public.jsonl"
CHECK = APP + "check"
REFERENCE = APP + "reference/"
ANSWERS = "solution/reference/"
"""The build context of the container that answers queries: nobody's side but the owner's, as the solution is."""
COMPOSE = "environment/docker-compose.yaml"
"""What puts that container beside the agent's."""
NO_TASK = frozenset({CHECK, APP + "CANARY"})
"""Files below /app that say nothing of the task: code of ours, and a mark that is made of everything else."""
IGNORING = frozenset({".gitignore", ".dockerignore", ".harborignore", ".gitattributes"})
"""Files that make a runner or a builder leave other files out."""
SIDECAR = re.compile(r"(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$")
"""Files that make a runner start further containers."""
AGENT_SIDE = ("instruction.md", "environment/")
LONGEST = 200  # bytes of a path that archives and file systems carry without extensions
_PLAIN = re.compile(rb"[A-Za-z0-9._+@=,~ -]+")


def read_bundle(root: Path) -> dict[str, FileEntry]:
    """Regular files below `root` by path.

    Raises:
        InputError: The tree holds something that is no regular file, or a name that no bundle has.
    """
    try:
        reading = read_tree(str(root), CAPS)
        files = {e.path.decode("ascii"): e for e in reading.entries if e.kind == "file"}
    except (OSError, TreeError, UnicodeDecodeError) as fault:
        raise InputError(f"{root}: cannot be read as a bundle: {fault}; run the block create again") from fault
    if reading.left_out:
        path, why = reading.left_out[0]
        raise InputError(f"{root}: wanted regular files, got {path!r} ({why}); run the block create again")
    return files


def write_bundle(root: Path, entries: Iterable[FileEntry]) -> None:
    """Write entries below `root`, which may exist when it is empty; modes do not depend on the umask."""
    if root.is_dir():
        root.rmdir()
    write_tree(str(root), entries)


def agent_side(files: dict[str, FileEntry]) -> dict[str, FileEntry]:
    """What an agent can read: the instruction and everything that its image is built from."""
    return {path: e for path, e in files.items() if path.startswith(AGENT_SIDE)}


def is_plain(path: bytes) -> bool:
    """Whether every consumer of a bundle can carry this relative path as it is."""
    parts = path.split(b"/")
    return all(_PLAIN.fullmatch(p) and p not in {b".", b".."} for p in parts) and len(path) < LONGEST


def is_inert(path: bytes) -> bool:
    """Whether no runner and no builder takes a plain path for a file that is meant for it."""
    name = path.decode("ascii")
    return name.rpartition("/")[2] not in IGNORING and not SIDECAR.search(name)


def plain(path: bytes) -> bytes:
    """The path with everything that is not plain as `%XX`."""
    parts = path.split(b"/")
    return b"/".join(re.sub(rb"[^A-Za-z0-9._+@=,~ -]", lambda m: b"%%%02X" % ord(m[0]), p) for p in parts)
