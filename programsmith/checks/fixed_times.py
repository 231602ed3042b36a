"""What is packed says nothing of when and by whom: members of every archive have one fixed time and no owner.

So the same task has the same bytes on every day, on every host.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.seal import Sealed, unseal
from programsmith.checks.base import Row, Scene, first
from programsmith.errors import InfraError

PROGRAMS = ("tests/verify.pyz", "environment/app/check")
SOLUTION = ("solution/solution.sealed", "solution/seal.json")
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Look at each member."""
    found = [f"{path}: {fault}" for path in PROGRAMS for fault in _zip(scene.content(path))]
    found += [f"{SOLUTION[0]}: {fault}" for fault in _tar(scene)]
    return Row(
        passed=not found,
        reason=first(found, "archives say nothing of a day or an owner", "archive"),
        evidence={"faults": found},
    )


def _zip(content: bytes) -> Iterator[str]:
    try:
        members = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except zipfile.BadZipFile:
        yield "wanted a zip application, got something else"
        return
    yield from (
        f"{m.filename}: wanted the time {ZIP_TIME}, got {m.date_time}" for m in members if m.date_time != ZIP_TIME
    )
    names = [m.filename for m in members]
    if names != sorted(set(names)):
        yield "wanted each name once, in order"


def _tar(scene: Scene) -> Iterator[str]:
    content, note = (scene.content(path) for path in SOLUTION)
    try:
        clear = unseal(Sealed(content=content, seal=note), scene.owner_secret)
        with tarfile.open(fileobj=io.BytesIO(clear), encoding="utf-8", errors="surrogateescape") as archive:
            members = archive.getmembers()
    except (InfraError, tarfile.TarError) as fault:
        yield f"wanted a sealed archive: {fault}"
        return
    for member in members:
        said = (member.mtime, member.uid, member.gid, member.uname, member.gname)
        if said != (0, 0, 0, "", ""):
            yield f"{member.name!r}: wanted time 0 and no owner, got {said}"
