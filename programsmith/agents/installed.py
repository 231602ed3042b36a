"""Where harnesses are installed: trees named by their content in the shared folder, and which tree is which version.

In: a row of rules/agents.yaml. Out: its tree's folder. A trial never fetches anything: what is not there, or not as it
was installed, is refused with the command that brings it (PrerequisiteError). What a look at all files of a tree shows
is kept beside it: while nothing of that differs, its content is not read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.model import canonical
from programsmith.sandboxes.shared import shared_root

NUMBER = 3
"""Of how a tree is laid out: with another one, what was installed before is another thing."""
PIECE = 1 << 20
NAMED = 32
"""Letters of a tree's content that its name has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """One installed harness: the file that says so, its tree, bytes of its files."""

    name: str
    version: str
    pointer: Path
    tree: Path
    bytes: int


def installed(name: str, row: Mapping[str, Any]) -> Path:
    """The tree of the harness at its row's version. Raises PrerequisiteError."""
    place = pointer(name, row)
    tree, want = _tree(place), f"programsmith agents install {name}@{row['version']}"
    if not tree.is_dir():
        raise PrerequisiteError(f"agent {name}: {row['version']} is not installed; run: {want}")
    if not unchanged(tree):
        raise PrerequisiteError(f"agent {name}: {tree} is not what was installed: files of it changed; run: {want}")
    return tree


def _tree(place: Path) -> Path:
    """The tree that a pointer names; the pointer itself where it names none."""
    try:
        return shared_root() / os.path.basename(str(json.loads(place.read_bytes())["tree"]))
    except (OSError, ValueError, KeyError, TypeError):
        return place


def unchanged(tree: Path) -> bool:
    """Whether a tree has the content that its name says."""
    try:
        if (shared_root() / "agents" / f"{tree.name}.seen").read_text("ascii") == _look(tree):
            return True
    except (OSError, ValueError):
        pass
    if tree.name != tree_name(tree):
        return False
    keep(tree)
    return True


def keep(tree: Path) -> None:
    """Take a tree as it is now for what its name says; whoever has read its content knows that it is."""
    kept = shared_root() / "agents" / f"{tree.name}.seen"
    part = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")  # trials begin at the same time
    kept.parent.mkdir(mode=0o755, exist_ok=True)
    part.write_text(_look(tree), "ascii")
    os.replace(part, kept)


def tree_name(tree: Path) -> str:
    """The name of a tree, by its content."""
    return f"agent-{content(tree)[:NAMED]}"


def everything() -> list[Here]:
    """What is installed, by name and version."""
    found = []
    for place in sorted((shared_root() / "agents").glob("*.json")):
        name, _, rest = place.name.partition("@")
        tree = _tree(place)
        size = sum(os.lstat(path).st_size for path, _ in _files(tree))
        found.append(Here(name=name, version=rest.rsplit("-", 2)[0], pointer=place, tree=tree, bytes=size))
    return found


def remove(here: Here) -> None:
    """Forget one, and remove its tree unless another still is it. A trial that runs from it does not go on."""
    here.pointer.unlink(missing_ok=True)
    if here.tree not in {other.tree for other in everything()} and here.tree.is_dir():
        drop(here.tree)


def drop(tree: Path) -> None:
    """Remove a tree, at once to whoever looks for it."""
    away = tree.with_name(f".{tree.name}.{os.getpid()}.part")
    tree.rename(away)
    shutil.rmtree(away)
    (shared_root() / "agents" / f"{tree.name}.seen").unlink(missing_ok=True)


def pointer(name: str, row: Mapping[str, Any]) -> Path:
    """The file that says which tree a row is on this machine."""
    return shared_root() / "agents" / f"{name}@{row['version']}-{row_digest(row)}-{os.uname().machine}.json"


def row_digest(row: Mapping[str, Any]) -> str:
    """A few letters that stand for all that a row says of how the harness is made."""
    return hashlib.sha256(canonical({"number": NUMBER, **row})).hexdigest()[:12]


def content(tree: Path) -> str:
    """SHA-256 over paths, kinds, modes and content below a folder."""
    total = hashlib.sha256()
    for path, inside in _files(tree):
        mode = os.lstat(path).st_mode
        said = os.readlink(path) if stat.S_ISLNK(mode) else _digest(path)
        total.update(b"%d %s %o %d %s\n" % (len(inside), inside, mode, len(said), said))
    return total.hexdigest()


def _look(tree: Path) -> str:
    """SHA-256 over what the file system tells of each file; one that was written to tells another time of change."""
    total = hashlib.sha256()
    for path, inside in _files(tree):
        told = os.lstat(path)
        figures = (told.st_mode, told.st_size, told.st_mtime_ns, told.st_ctime_ns, told.st_ino, told.st_dev)
        total.update(b"%d %s %s\n" % (len(inside), inside, b" ".join(b"%d" % n for n in figures)))
    return total.hexdigest()


def _files(tree: Path) -> Iterator[tuple[bytes, bytes]]:
    """Files and links below a folder in order: their path, and that from the folder on."""
    top = os.fsencode(tree)
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted([*names, *(f for f in folders if os.path.islink(os.path.join(folder, f)))]):
            path = os.path.join(folder, name)
            yield path, os.path.relpath(path, top)


def _digest(path: bytes) -> bytes:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            found.update(piece)
    return found.hexdigest().encode()
