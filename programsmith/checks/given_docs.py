"""The documentation is there: an agent that cannot see the original needs what its author wrote of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from programsmith.bundle.tree import DOCS
from programsmith.checks.base import Row, Scene, first


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Count what is there and what names the tool."""
    docs = {path: e.content for path, e in scene.agent.items() if path.startswith(DOCS)}
    size, tool = sum(map(len, docs.values())), scene.manifest.tool.lower().encode()
    naming = sum(tool in content.lower() for content in docs.values())
    found = []
    if size < parameters["bytes"]:
        found.append(f"{DOCS}: wanted at least {parameters['bytes']} bytes, got {size}")
    if not naming:
        found.append(f"{DOCS}: wanted a file that names {scene.manifest.tool}, got none")
    return Row(
        passed=not found,
        reason=first(found, f"{len(docs)} files of documentation", "documentation"),
        evidence={"faults": found, "files": len(docs), "bytes": size},
    )
