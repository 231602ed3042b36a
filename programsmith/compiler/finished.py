"""Specs that are built and up to date, and the build of what reads something new about them.

In: the compiler, a project, a spec. Out: its verdict. Refuses what would run, and a verdict that left no bundle.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from programsmith.compiler.builds import Ways, build_asked
from programsmith.compiler.compile import Compiler
from programsmith.compiler.outlook import outlook
from programsmith.compiler.paths import Project
from programsmith.compiler.revision import EXPORTED
from programsmith.compiler.slices import Steady
from programsmith.errors import Exit, InputError
from programsmith.records import codec
from programsmith.records.verdict import Verdict


def built(compiler: Compiler, project: Project, path: Path, verb: str) -> Verdict:
    """The verdict of a spec that is up to date and left a bundle. Raises InputError."""
    found = outlook(compiler.over(Steady), project, path)
    if found.fault is not None:
        raise found.fault
    stale = next((p.name for p in found.prospects if p.would_run), None)
    if stale is not None:
        raise InputError(
            f"{verb}: {path.stem} is not up to date, {stale} would run; run: programsmith build spec={path.stem}"
        )
    verdict = codec.load(project.folder(path.stem).verdict, Verdict)
    if verdict.outcome not in EXPORTED:
        raise InputError(f"{verb}: the verdict of {path.stem} is {verdict.outcome}; wanted one that left a bundle")
    return verdict


def rebuilt(compiler: Compiler, project: Project, names: Sequence[str], workers: int) -> Exit:
    """Build what reads something new of these specs. How they ended was known: only what kept them from it counts."""
    if not names:
        return Exit.OK
    code = build_asked([f"spec={','.join(names)}"], project.root, Ways(compiler=compiler, workers=workers))
    return Exit.OK if code is Exit.ENDED else code
