"""The agent's side does not say where the original comes from: no address, owner and name, commit or history.

An address that the oracle itself prints is behaviour: a public case may show it, and nothing else may. A case may be
given folders of version control, for there are programs that look at them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.tree import CASES, PUBLIC
from programsmith.checks.base import Row, Scene, first
from programsmith.records.lock import Lock

HISTORY = (".git", ".hg", ".svn", ".bzr", "CVS")
COMMIT_DIGITS = 12
SHORTEST = 6  # bytes of a pointer that is looked for
_ADDRESS = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]+@)?([^/:\s]+\.[a-z]+)[:/](.+?)(?:\.git)?/*$", re.IGNORECASE
)


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Search the agent's side for each pointer of the lock."""
    wanted = {p: _sought(p) for p in pointers(scene.lock)}
    printed = {p for p, sought in wanted.items() if any(sought.search(c.expected.stdout) for c in scene.sides.public)}
    found = sorted(f"{path} holds {p}" for path, p in _places(scene, wanted, printed))
    own = (path for path in scene.agent if not path.startswith(CASES))
    found += sorted(f"{path} is history" for path in own if set(path.split("/")) & set(HISTORY))
    return Row(
        passed=not found,
        reason=first(found, "no pointer to upstream", "pointer"),
        evidence={"pointers": len(wanted), "printed_by_the_oracle": len(printed), "faults": found},
    )


def pointers(lock: Lock) -> tuple[str, ...]:
    """Texts that lead to the source: address, owner and name, archive name or path, commit.

    A folder or archive that is called as a tool of the source points nowhere.
    """
    found = {lock.commit[:COMMIT_DIGITS], lock.tree[:COMMIT_DIGITS]}
    address = _ADDRESS.match(lock.origin)
    if address:
        host, path = address.groups()
        found |= {f"{host}/{path}", path, "/".join(path.split("/")[-2:])}
    elif lock.origin not in {entry.tool for entry in lock.entry_points}:
        found.add(lock.origin)
    return tuple(sorted(p for p in found if len(p) >= SHORTEST))


def _sought(pointer: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w.-])" + re.escape(pointer.encode()) + rb"(?![\w-])", re.IGNORECASE)


def _places(scene: Scene, wanted: Mapping[str, re.Pattern[bytes]], printed: set[str]) -> Iterator[tuple[str, str]]:
    for path in scene.agent:
        is_case = path.startswith(CASES) or path == PUBLIC
        texts = scene.texts(path)
        for pointer, sought in wanted.items():
            if not (is_case and pointer in printed) and any(sought.search(text) for text in texts):
                yield path, pointer
