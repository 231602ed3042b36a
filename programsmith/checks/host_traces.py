"""Nothing tells where the bundle was made: no path of this project or of this installation, no name of this host.

A path counts anywhere. The host's name counts in the files that create writes itself, and only where no word of a
language could be it: upstream's texts may hold any word.
"""

from __future__ import annotations

import re
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programsmith.bundle.tree import CASES, DOCS, PUBLIC
from programsmith.checks.base import Row, Scene, first

DEEP = 3  # parts of a path that is a place of somebody's, and no folder of every system
UPSTREAM = (DOCS, CASES, PUBLIC, "tests/public.jsonl")
NAME = re.compile(r"(?=.*[0-9.-])[A-Za-z0-9.-]{6,}")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Search every file, also through encodings where an agent can read it."""
    paths, host = tuple(places(scene)), socket.gethostname()
    names = (host.encode(),) if NAME.fullmatch(host) else ()
    found = []
    for path in scene.files:
        texts = scene.texts(path) if path in scene.agent else (scene.content(path),)
        sought = paths if path.startswith(UPSTREAM) else (*paths, *names)
        found += [f"{path}: wanted no trace of this host, got {_shown(s)}" for s in sought if _is_in(s, texts)]
    return Row(
        passed=not found,
        reason=first(sorted(found), "no trace of this host", "trace"),
        evidence={"faults": sorted(found), "sought": len(paths) + len(names)},
    )


def places(scene: Scene) -> Iterator[bytes]:
    """Folders of this project, this installation and this user that are no folder of every system."""
    owned = [scene.bundle, scene.scratch, Path.cwd(), Path.home(), Path(tempfile.gettempdir())]
    installed = [Path(sys.prefix)] if sys.prefix != sys.base_prefix else []
    for place in {p.resolve() for p in (*owned, *installed)}:
        if len(place.parts) > DEEP:
            yield str(place).encode()


def _is_in(sought: bytes, texts: tuple[bytes, ...]) -> bool:
    return any(sought in text for text in texts)


def _shown(sought: bytes) -> str:
    return f"a text of {len(sought)} bytes that begins with {sought[:8].decode('ascii', 'replace')!r}"
