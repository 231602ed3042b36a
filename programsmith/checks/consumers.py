"""Whoever runs Harbor tasks can run this one: no part of it needs what only some runners have.

One step, no sidecar, no file that makes a runner or a builder leave something out, paths that every archive carries,
programs that runners call, a submission small enough to be carried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.tree import IGNORING, is_plain
from programsmith.checks.base import Row, Scene, first

SIDECAR = re.compile(r"(?:^|/)(?:docker-)?compose[^/]*\.ya?ml$")
STEPS = "steps/"
PACKAGES = re.compile(rb'^ARG PACKAGES="([^"]*)"$', re.MULTILINE)


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Look at paths, packages and sizes."""
    found = [*_paths(scene), *_programs(scene, parameters), *_sizes(scene, parameters)]
    return Row(
        passed=not found,
        reason=first(found, "nothing that only some runners have", "consumer"),
        evidence={"faults": found, **parameters},
    )


def _paths(scene: Scene) -> Iterator[str]:
    for path in sorted(scene.files):
        if SIDECAR.search(path) or path.startswith(STEPS):
            yield f"{path}: wanted one container and one step, got a file of more"
        if path.rpartition("/")[2] in IGNORING:
            yield f"{path}: wanted nothing that leaves files out, got one that may"
        if not is_plain(path.encode()):
            yield f"{path!r}: wanted a path that every archive carries"


def _programs(scene: Scene, parameters: Mapping[str, Any]) -> Iterator[str]:
    for side in ("environment", "tests"):
        there = PACKAGES.findall(scene.content(f"{side}/Dockerfile"))
        names = {name.decode("ascii", "replace") for line in there for name in line.split()}
        yield from (
            f"{side}/Dockerfile: wanted the package {p}, got none" for p in parameters["packages"] if p not in names
        )


def _sizes(scene: Scene, parameters: Mapping[str, Any]) -> Iterator[str]:
    most, got = parameters["artifact_bytes"], scene.sides.policy.submission.bytes
    if not 0 < got <= most:
        yield f"tests/policy.json: submission.bytes: wanted at most {most}, which runners carry, got {got}"
