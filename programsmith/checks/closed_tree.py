"""A bundle holds the files that create writes and no other.

What nobody declared is no harmless extra: it may be a program for the verifier's image to start, an answer, a channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.bundle.answers import ANSWERING
from programsmith.bundle.harbor import REQUIRED
from programsmith.bundle.render import CANARIES, reference, server_sources
from programsmith.bundle.tree import ANSWERS, CASES, DOCS
from programsmith.checks.base import Row, Scene, first

SOLUTION = ("solution/open.py", "solution/solution.sealed", "solution/seal.json")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare what is there with what may be there, and look at every folder."""
    known = {*REQUIRED, *SOLUTION, *(f"{folder}CANARY" for folder in CANARIES), *server_sources()}
    if scene.asked:
        known |= {reference(scene.manifest.tool), *ANSWERING, *server_sources(ANSWERS)}
    folders = (DOCS, *(f"{CASES}{case}/" for case in scene.manifest.public))
    found = [
        f"{path}: nothing writes this file" for path in sorted(set(scene.files) - known) if not _is_in(path, folders)
    ]
    parents = {str(parent) for path in scene.files for parent in (scene.bundle / path).parents}
    empty = [p for p in sorted(scene.bundle.rglob("*")) if p.is_dir() and str(p) not in parents]
    found += [f"{path.relative_to(scene.bundle)}: wanted no empty folder" for path in empty]
    return Row(
        passed=not found,
        reason=first(found, f"{len(scene.files)} files, all of them known", "tree"),
        evidence={"faults": found, "files": len(scene.files)},
    )


def _is_in(path: str, folders: tuple[str, ...]) -> bool:
    return path.startswith(folders)
