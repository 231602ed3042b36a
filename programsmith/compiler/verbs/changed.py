"""`changed base=COMMIT`: the specs that the changes since a commit affect, for a build of those alone.

In: a git checkout, a commit, specs. Out: their names, one a line; in JSON by what, and which specs are gone. What was
never committed counts as changed. A broken spec counts as affected. Refuses what is no checkout and no commit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from programsmith.compiler.affected import Affecting, Cause
from programsmith.compiler.compile import Compiler
from programsmith.compiler.loader import Asked
from programsmith.compiler.plan import widest
from programsmith.compiler.verbs.reading import Answer
from programsmith.errors import InputError
from programsmith.rulebook.fault import shown
from programsmith.sandboxes.scratch import scratch
from programsmith.sources.checkout import ADDED, Since, since
from programsmith.spec.find import specs_among
from programsmith.spec.places import SUFFIX

WORDS = ("spec", "base")
TASKS = False


def answer(asked: Asked, names: Sequence[str], compiler: Compiler) -> Answer:
    """What changed. Raises InputError, InfraError, PrerequisiteError."""
    del names
    if asked.base is None:
        raise InputError("changed: wanted base=COMMIT, the commit, tag or branch to compare with, got none")
    changes = since(asked.project.root, asked.base)
    with scratch("look") as place:
        affecting = Affecting(changes, asked.project.root.resolve(), place, compiler.rules)
        rows = [row for path in asked.files if (row := _row(path, asked, compiler, affecting))]
    for row in rows:
        if row["error"] is not None:
            print(f"{row['name']}: error: {row['error']}", file=sys.stderr)
    gone = [] if asked.named else _gone(changes, asked.project.root.resolve())
    value = {"base": changes.commit, "removed": gone, "specs": rows}
    return Answer(value=value, text="\n".join(row["name"] for row in rows))


def _row(path: Path, asked: Asked, compiler: Compiler, affecting: Affecting) -> dict[str, Any] | None:
    """The spec's row, None where nothing affects it. Raises what is wrong with a spec that was asked for by name."""
    changes, real, error = affecting.since, path.resolve(), None
    causes: Iterable[Cause] = ()
    try:
        subject = compiler.subject(asked.project, path)
        causes = affecting.causes(subject, real, [widest(step, subject.values) for step in compiler.steps])
    except InputError as fault:
        if asked.named:
            raise
        error = str(fault)
    was = changes.renamed.get(real)
    change = "renamed" if was else "added" if changes.changed.get(real) == ADDED else "changed"
    found = [] if change != "changed" else [_cause(cause, changes.top, affecting.project) for cause in causes]
    if change == "changed" and not found and error is None:
        return None
    return {
        "name": path.stem,
        "change": change,
        "was": was.stem if was else None,
        "error": error,
        "causes": found,
    }


def _cause(cause: Cause, top: Path, project: Path) -> dict[str, Any]:
    path = shown(cause.path, project if cause.path.is_relative_to(project) else top)
    return {"cause": cause.cause, "path": path, "files": cause.files, "blocks": list(cause.blocks)}


def _gone(changes: Since, project: Path) -> list[str]:
    """Names of specs that there were and are not any more."""
    folder = project / "specs"
    files = {path for path in (*folder.glob(f"*{SUFFIX}"), *changes.changed) if path.parent == folder}
    texts = {path: changes.former(path) for path in sorted(files) if path.suffix == SUFFIX}
    former = specs_among({path: text for path, text in texts.items() if text is not None})
    now = specs_among({path: path.read_bytes() for path in sorted(files) if path.is_file()})
    return sorted({path.stem for path in former} - {path.stem for path in now})
