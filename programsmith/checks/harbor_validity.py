"""The bundle is a Harbor task as we mean it: schema, required files, modes, counts, and the digests of its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.harbor import REQUIRED, read_task
from programsmith.bundle.manifest import digests
from programsmith.checks.base import Row, Scene, first
from programsmith.errors import InputError

EXECUTABLE_BITS = 0o111


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Hold the bundle to its schema, its list of files and its manifest."""
    found = [*_task(scene), *_files(scene)]
    return Row(
        passed=not found,
        reason=first(found, "a valid Harbor task", "invalid"),
        evidence={"faults": found, "files": len(scene.files)},
    )


def _task(scene: Scene) -> Iterator[str]:
    entry = scene.files.get("task.toml")
    if entry is None:
        return
    try:
        value = read_task(entry.content, scene.schema)
    except InputError as fault:
        yield str(fault)
        return
    said = value["metadata"]["programsmith"]
    counts = {"public": len(scene.manifest.public), "held_out": len(scene.manifest.held_out)}
    yield from (f"task.toml: {k}: says {said[k]}, the manifest {n}" for k, n in counts.items() if said[k] != n)


def _files(scene: Scene) -> Iterator[str]:
    for path, executable in REQUIRED.items():
        entry = scene.files.get(path)
        if entry is None:
            yield f"{path} is missing"
        elif bool(entry.mode & EXECUTABLE_BITS) != executable:
            yield f"{path} must {'' if executable else 'not '}be executable"
        elif not entry.content:
            yield f"{path} is empty"
    _, now = digests(scene.files.values())
    differ = sorted(p for p in now.keys() | scene.manifest.files.keys() if now.get(p) != scene.manifest.files.get(p))
    yield from (f"{path} is not what the manifest says" for path in differ)
