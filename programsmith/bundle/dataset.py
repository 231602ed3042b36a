"""dist/dataset.toml: every exported task by the digest that a dataset names it by.

In: the folder dist/, and the task that is about to appear in it. Out: the file, replaced whole under a lock, so that
several specs may export at the same time. Tasks that are not complete are not listed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.bundle.harbor import ORGANISATION, dump_toml, task_digest
from programsmith.bundle.tree import read_bundle
from programsmith.errors import InputError

SHELVES = ("", "drafts", "easy", "hard")
"""Folders of dist/ that hold tasks, the first being dist/ itself."""
WITH_BASE = "with-base"
"""The folder of dist/ that holds tasks with the root file systems that their images are made on."""
NAME = "dataset.toml"
COMPLETE = "provenance.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One row: where the task lies below dist/, its digest, its verdict."""

    path: str
    digest: str
    verdict: str


def listed(path: str, folder: Path) -> tuple[str, Listed]:
    """Name and row of an exported task. Raises InputError where it is none."""
    files = {name: e.content for name, e in read_bundle(folder).items()}
    try:
        value = tomllib.loads(files["task.toml"].decode("utf-8"))
        name, verdict = value["task"]["name"], value["metadata"]["programsmith"]["verdict"]
    except (KeyError, ValueError) as fault:
        raise InputError(f"{folder}: wanted an exported task, got none ({fault!r}); remove it") from fault
    return str(name), Listed(path=path, digest=f"sha256:{task_digest(files)}", verdict=str(verdict))


def update(dist: Path, added: Path, place: Path) -> None:
    """Write dist/dataset.toml with everything in dist/ and the task in `added`, which will lie at `place`.

    Other forms of what lay there go.
    """
    _remove(forms(dist, place))
    with _held(dist):
        rows = dict(_present(dist, skip=place.name))
        name, row = listed(place.relative_to(dist).as_posix(), added)
        rows[name] = row
        _replace(dist / NAME, dump_toml(_manifest(rows)))


def tar_of(place: Path) -> Path:
    """Where the tar of the task at `place` lies."""
    return place.with_name(f"{place.name}.tar")


def forms(dist: Path, place: Path) -> list[Path]:
    """What there is of the other forms of the task at `place`: its tar, and what carries the bases."""
    carried = dist / WITH_BASE / place.name
    folders = [carried] if (carried / COMPLETE).is_file() else []
    return [*folders, *(made for made in (tar_of(place), tar_of(carried)) if made.is_file())]  # a task may be called so


def remove_others(dist: Path, place: Path) -> bool:
    """Remove the same task, and its other forms, wherever it was left but at `place`; whether there was one."""
    others = [folder for shelf in SHELVES if (folder := dist / shelf / place.name) != place]
    gone = [folder for folder in others if (folder / COMPLETE).is_file()]
    _remove([tar for folder in others if (tar := tar_of(folder)).is_file()])
    for folder in gone:
        _remove([folder, *forms(dist, folder)])
    return bool(gone)


def _remove(there: Iterable[Path]) -> None:
    for path in there:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def withdraw(dist: Path, place: Path) -> None:
    """Remove and unlist the task of this name wherever it lies in dist/ but at `place`."""
    if remove_others(dist, place) and (dist / NAME).is_file():
        with _held(dist):
            _replace(dist / NAME, dump_toml(_manifest(dict(_present(dist, skip="")))))


def clear_draft(dist: Path) -> None:
    """Remove what a killed writer of dist/dataset.toml left."""
    part = _part(dist / NAME)
    if part.exists():
        with _held(dist):
            part.unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def _manifest(rows: Mapping[str, Listed]) -> dict[str, Any]:
    return {
        "schema_version": "1.0",
        "tasks": [{"name": name, "digest": row.digest} for name, row in sorted(rows.items())],
        "dataset": {"name": f"{ORGANISATION}/local", "description": "Tasks exported here, of every verdict."},
        "metadata": {
            "programsmith": {name: {"path": row.path, "verdict": row.verdict} for name, row in sorted(rows.items())}
        },
    }


def _present(dist: Path, skip: str) -> Iterator[tuple[str, Listed]]:
    """Rows of the tasks that are there; a folder that is none of ours is passed over, and so never breaks another."""
    for shelf in SHELVES:
        for folder in sorted((dist / shelf).glob("*")):
            if folder.name != skip and folder.suffix not in {".part", ".former"} and (folder / COMPLETE).is_file():
                with suppress(InputError):
                    yield listed(folder.relative_to(dist).as_posix(), folder)


@contextmanager
def _held(dist: Path) -> Iterator[None]:
    with open(dist / f".{NAME}.lock", "a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _replace(path: Path, content: bytes) -> None:
    part = _part(path)
    with open(part, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    os.replace(part, path)
