"""The verb `export`: what a build left in dist/, in another form.

In: `spec=…`, `format=tar`. Out: <name>.tar beside the task, one folder in it, the same bytes for the same task; a line
for each on stdout, and one on stderr where the spec asks for something else by now. It goes with the task. Refuses a
spec that has no exported task, one whose files are not those that were signed, and one beside which a task called
<name>.tar lies.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from programsmith.bundle.dataset import tar_of
from programsmith.bundle.present import Present, read_present
from programsmith.compiler.loader import asked_specs
from programsmith.compiler.passes import outcome_of
from programsmith.compiler.paths import Project, part
from programsmith.compiler.revision import EXPORTED
from programsmith.compiler.verbs.reading import emit
from programsmith.compiler.verbs.stale import warn
from programsmith.compiler.verifying import State, files_line
from programsmith.errors import Exit, InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes.tars import write_tar_bytes

WORD, FORMATS = "format", ("tar",)


def export(words: Sequence[str], start: Path) -> Exit:
    """Write the exported task of every spec that `words` ask for. Raises InputError."""
    given = [word for word in words if word.startswith(f"{WORD}=")]
    form = "".join(given).removeprefix(f"{WORD}=")
    if form not in FORMATS:
        raise InputError(f"export: wanted {WORD}={'|'.join(FORMATS)}, got {' '.join(given) or 'none'}")
    asked = asked_specs([word for word in words if word not in given], start)
    for path in asked.files:
        made = _tar(asked.project, path.stem)
        emit(f"{path.stem}  {form}  {made}  sha256:{hashlib.sha256(made.read_bytes()).hexdigest()}")
    warn(asked)
    return Exit.OK


def _tar(project: Project, name: str) -> Path:
    """Write the tar of the task `name`; where it is."""
    outcome = outcome_of(project.folder(name).verdict)
    place = project.folder(name).exported(outcome)
    if outcome not in EXPORTED or not place.is_dir():
        raise InputError(f"export: {name} has no exported task; run: programsmith build spec={name}")
    found = read_present(place)
    line = files_line(found)
    if line.state is not State.OK:
        first = f", the first is {line.differences[0]}" if line.differences else ""
        raise InputError(f"export: {place} is not as it was exported: {line.text}{first}; build {name} again")
    made = tar_of(place)
    if made.is_dir():
        raise InputError(f"export: {made} is a folder, the task of another spec; rename one of the specs")
    part(made).write_bytes(write_tar_bytes(_entries(name, found), 0))
    os.replace(part(made), made)
    return made


def _entries(name: str, found: Present) -> Iterable[FileEntry]:
    """Folders and files below one folder, each folder before what is in it."""
    top = name.encode("ascii")
    paths = [top + b"/" + path.encode("ascii") for path in found.files]
    folders = {path[:at] for path in paths for at, byte in enumerate(path) if byte == ord("/")}
    entries = [FileEntry(path, "dir", 0o755) for path in folders]
    entries += [FileEntry(top + b"/" + e.path, "file", e.mode, e.content) for e in found.files.values()]
    return sorted(entries)
