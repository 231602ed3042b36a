"""What of a trial others on this machine could see while it runs: its processes, its containers, its files.

In: folders. Out: pieces of what is there now, each with a name for a fault.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from programsmith.sandboxes.shared import shared_root


def processes(roots: Sequence[int]) -> set[int]:
    """These processes and all that descend from them."""
    parents: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
    found = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def containers() -> list[Any]:
    """All containers of the engine; none where there is no engine."""
    if "DOCKER_HOST" not in os.environ:
        return []
    from programsmith.sandboxes.engine import engine

    return list(engine().containers.list(all=True))


def pieces(*folders: Path) -> Iterator[tuple[str, bytes]]:
    """Arguments and environments of processes, what the engine says of containers, contents of files."""
    roots = [os.getpid()]
    for container in containers():
        with contextlib.suppress(Exception):  # it is gone by now
            container.reload()
            roots.append(int(container.attrs["State"]["Pid"]) or os.getpid())
            yield f"inspect {container.name}", json.dumps(container.attrs).encode()
    for pid in processes(roots):
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                yield f"{name} of {pid}", Path(f"/proc/{pid}/{name}").read_bytes()
    own = [place for place in shared_root().iterdir() if f"-{os.getpid()}-" in place.name]  # of this very process
    for folder in (*folders, *own):
        for path in [folder, *folder.rglob("*")]:
            with contextlib.suppress(OSError):
                if path.is_file() and not path.is_symlink():
                    yield str(path), path.read_bytes()
