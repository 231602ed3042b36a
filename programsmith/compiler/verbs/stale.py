"""What a person must know before trusting what lies in dist/: that a build would find something else to do.

In: specs, or a path in the dist/ of a project. Out: one line on stderr for each spec whose exported task is what the
last finished build left and not what the spec asks for now. Nothing is refused here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from programsmith.compiler.compile import Compiler
from programsmith.compiler.loader import Asked
from programsmith.compiler.outlook import Outlook
from programsmith.compiler.paths import SHELVES, Project
from programsmith.compiler.verbs.reading import looks, short
from programsmith.spec import places


def warn(asked: Asked, compiler: Compiler | None = None) -> None:
    """Say which of the specs are stale. One that cannot be looked at is."""
    for found in looks(replace(asked, named=False), compiler or Compiler()):
        for why in _why(found):
            left = f"this is what the last finished build left; run: programsmith build spec={found.name}"
            print(f"{found.name}  stale  {why}; {left}", file=sys.stderr, flush=True)


def asked_of(place: Path) -> Asked | None:
    """The spec whose exported task lies at `place`, a folder or a tar; None where it is no spec's of a project."""
    name = place.name.removesuffix(".tar") if place.is_file() else place.name
    above = place.parent.parent if place.parent.name in SHELVES.values() else place.parent
    root = places.root_of(str(above))
    if root is None or above != Project(Path(root)).dist:
        return None
    file = Path(root) / "specs" / f"{name}.yaml"
    return Asked(Project(Path(root)), (file,), named=True) if file.is_file() else None


def _why(found: Outlook) -> Iterator[str]:
    if found.fault is not None:
        yield f"it cannot be looked at: {found.fault}"
        return
    first = next((p for p in found.prospects if p.would_run), None)
    if first is not None:
        yield f"{short(first.name)} would run: {first.causes[0].text}"
