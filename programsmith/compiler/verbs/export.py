"""The verb `export`: what a build left in dist/, in a form that others can take.

In: `spec=…` and what is asked for. Out: `registry=` has the images pushed and dist/<name> names them by digest;
`--with-base` makes dist/with-base/<name>, which carries the root file systems that its images are made on; `format=tar`
makes a tar beside either, one folder in it. All of it goes with the task. The same bytes for the same task; a line for
each on stdout, and one on stderr where the spec asks for something else by now. Refuses a spec that has no exported
task, one whose files are not those that were signed, one beside which a task called <name>.tar lies, and one that is
being built, proven or exported.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from programsmith.bundle.dataset import WITH_BASE, tar_of
from programsmith.bundle.present import Present, read_present
from programsmith.bundle.provided import ROOT
from programsmith.bundle.tree import write_bundle
from programsmith.compiler.carrying import carried
from programsmith.compiler.compile import Compiler
from programsmith.compiler.leftovers import recorded
from programsmith.compiler.loader import Asked, asked_specs
from programsmith.compiler.lock import held
from programsmith.compiler.passes import outcome_of
from programsmith.compiler.paths import Project, former, part
from programsmith.compiler.pushing import push_specs
from programsmith.compiler.revision import EXPORTED
from programsmith.compiler.verbs.reading import emit
from programsmith.compiler.verbs.stale import warn
from programsmith.compiler.verifying import State, files_line
from programsmith.errors import Exit, InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes.docker_registry import repository
from programsmith.sandboxes.tars import write_tar_bytes

FORMAT, REGISTRY, TAR = "format", "registry", "tar"
WANTED = f"wanted {FORMAT}={TAR}, {REGISTRY}=HOST/NAME or --{WITH_BASE}"


def export(words: Sequence[str], start: Path, *, with_base: bool = False, compiler: Compiler | None = None) -> Exit:
    """Write the exported task of every spec that `words` ask for. Raises InputError, PrerequisiteError, InfraError."""
    form, place = _word(words, FORMAT), _word(words, REGISTRY)
    if form not in {None, TAR}:
        raise InputError(f"export: wanted {FORMAT}={TAR}, got {FORMAT}={form}")
    if form is None and place is None and not with_base:
        raise InputError(f"export: {WANTED}, got none")
    if place is not None and with_base:
        raise InputError(
            f"export: {REGISTRY}= is for those who pull images, --{WITH_BASE} for those who cannot; give one at a time"
        )
    own = (f"{FORMAT}=", f"{REGISTRY}=")
    asked = asked_specs([word for word in words if not word.startswith(own)], start)
    if place is not None:
        code = push_specs(compiler or Compiler(), asked.project, asked.files, repository(place))
        if code is not Exit.OK:
            return code
    _written(asked, form, with_base=with_base)
    warn(asked)
    return Exit.OK


def _word(words: Sequence[str], name: str) -> str | None:
    """The value of a word that is given at most once. Raises InputError."""
    given = [word.partition("=")[2] for word in words if word.startswith(f"{name}=")]
    if len(given) > 1:
        raise InputError(f"export: wanted one {name}=, got {len(given)}")
    return given[0] if given else None


def _written(asked: Asked, form: str | None, *, with_base: bool) -> None:
    """Write what is made of dist/ besides, and say so. Neither a build nor another export of the spec is let in."""
    for path in asked.files if form == TAR or with_base else ():
        name, project = path.stem, asked.project
        _exported(project, name)
        with held(project.folder(name)), recorded(project.folder(name)):
            line = _made(project, name, form, with_base=with_base)
        emit(f"{name}  {line}")


def _made(project: Project, name: str, form: str | None, *, with_base: bool) -> str:
    """Write one form of one task; what it is, as a line."""
    place, files = _checked(project, name)
    if with_base:
        place, files = project.dist / WITH_BASE / name, carried(project, Present(files=files, odd={}))
    sizes = _sizes(files) if with_base else ""
    if form != TAR:
        return f"{WITH_BASE}  {_folder(place, files)}{sizes}"
    made = _tar(tar_of(place), name, files)
    return f"{form}  {made}  sha256:{hashlib.sha256(made.read_bytes()).hexdigest()}{sizes}"


def _sizes(files: Mapping[str, FileEntry]) -> str:
    roots = [e for p, e in files.items() if p.endswith(ROOT.rpartition("}")[2])]
    whole, own = (sum(len(e.content) for e in part) for part in (files.values(), roots))
    return f"  {whole} bytes, {own} of them {len(roots)} root file systems"


def _checked(project: Project, name: str) -> tuple[Path, dict[str, FileEntry]]:
    """Place and files of the exported task `name`. Raises InputError where none is, or another than was exported."""
    place = _exported(project, name)
    found = read_present(place)
    line = files_line(found)
    if line.state is not State.OK:
        first = f", the first is {line.differences[0]}" if line.differences else ""
        raise InputError(f"export: {place} is not as it was exported: {line.text}{first}; build {name} again")
    return place, found.files


def _exported(project: Project, name: str) -> Path:
    """Where the exported task `name` lies. Raises InputError where there is none."""
    outcome = outcome_of(project.folder(name).verdict)
    place = project.folder(name).exported(outcome)
    if outcome not in EXPORTED or not place.is_dir():
        raise InputError(f"export: {name} has no exported task; run: programsmith build spec={name}")
    return place


def _tar(made: Path, name: str, files: Mapping[str, FileEntry]) -> Path:
    made.parent.mkdir(exist_ok=True)
    if made.is_dir():
        raise InputError(f"export: {made} is a folder, the task of another spec; rename one of the specs")
    part(made).write_bytes(write_tar_bytes(_entries(name, files), 0))
    os.replace(part(made), made)
    return made


def _folder(made: Path, files: Mapping[str, FileEntry]) -> Path:
    """Write the files, in place of what lies there."""
    made.parent.mkdir(exist_ok=True)
    write_bundle(part(made), files.values())
    if made.is_dir():
        made.rename(former(made))
    part(made).rename(made)
    shutil.rmtree(former(made), ignore_errors=True)
    return made


def _entries(name: str, files: Mapping[str, FileEntry]) -> Iterable[FileEntry]:
    """Folders and files below one folder, each folder before what is in it."""
    top = name.encode("ascii")
    paths = [top + b"/" + path.encode("ascii") for path in files]
    folders = {path[:at] for path in paths for at, byte in enumerate(path) if byte == ord("/")}
    entries = [FileEntry(path, "dir", 0o755) for path in folders]
    entries += [FileEntry(top + b"/" + e.path, "file", e.mode, e.content) for e in files.values()]
    return sorted(entries)
