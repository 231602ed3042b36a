"""The volumes of one sandbox, and the container that holds them: it is created and never started.

In: places inside. Out: entries, put in as archives of ours and read back as hostile ones. A path is followed folder by
folder: a link that a program left leads nowhere.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Sequence

from programsmith.errors import InfraError, InputError, ProgramSmithError
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.wire import check_paths
from programsmith.sandboxes.docker_container import Plan, create, make_volume, remove_container, remove_volume
from programsmith.sandboxes.engine import downloading, engine, header, talking
from programsmith.sandboxes.tars import read_tar_stream, write_tar_bytes

_HELD = "/held"
_FOLDER = 1 << 31  # of a mode as the engine writes it
_STAT = "X-Docker-Container-Path-Stat"


class Volumes:
    """Volumes by the place that they have inside. Close them."""

    def __init__(self, image: str, places: Sequence[str]) -> None:
        self._names: dict[str, str] = {}
        self._keeper = ""
        try:
            for place in places:
                self._names[place] = make_volume().name
            held = {self._path(place): (volume, True) for place, volume in self._names.items()}
            plan = Plan(image=image, command=["true"], workdir="/", memory_bytes=1 << 26, pids=8, volumes=held)
            self._keeper = str(create(plan).id)
        except BaseException:
            self.close()
            raise

    def __getitem__(self, place: str) -> str:
        """The name of a place's volume."""
        return self._names[place]

    def fill(self, place: str, entries: Iterable[FileEntry], owner: int) -> None:
        """Lay entries of ours down at the top of a place. Raises InfraError."""
        content = write_tar_bytes(entries, owner)
        with talking(f"filling {place}"):
            if not engine().api.put_archive(self._keeper, self._path(place), content):
                raise InfraError(f"Docker engine: {place} could not be filled")

    def put(self, place: str, parts: Sequence[bytes], entries: Iterable[FileEntry], owner: int) -> None:
        """Lay entries down below a folder of a place, replacing what is there. Raises InputError for a link, Infra."""
        found = list(entries)
        check_paths(found)
        missing = [FileEntry(path, "dir") for path in self._missing(place, parts)]
        base = b"/".join(parts)
        below = [dataclasses.replace(e, path=base + b"/" + e.path if base else e.path) for e in found]
        seen = set(self._folders(parts))
        for entry in sorted(below):
            path = entry.path.split(b"/")
            for folder in self._folders(path if entry.kind == "dir" else path[:-1]):
                if folder not in seen and not self._is_folder(place, folder, InfraError, f" for {entry.path!r}"):
                    missing.append(FileEntry(folder, "dir"))
                seen.add(folder)
        self.fill(place, [*missing, *(e for e in below if e.kind != "dir")], owner)

    def take(
        self, place: str, parts: Sequence[bytes], *, max_files: int, max_bytes: int, cut: bool
    ) -> tuple[FileEntry, ...]:
        """Entries below a folder of a place. Raises InputError past a cap or where there is no such folder."""
        if self._missing(place, parts):
            raise InputError(f"{place} has no folder {b'/'.join(parts)!r}")
        with self._archive(place, b"/".join(parts)) as (chunks, top):
            return tuple(sorted(read_tar_stream(chunks, top, max_files=max_files, max_bytes=max_bytes, cut=cut)))

    def close(self) -> None:
        """Remove the container and the volumes. Idempotent."""
        if self._keeper:
            remove_container(self._keeper)
        for volume in self._names.values():
            remove_volume(volume)
        self._keeper, self._names = "", {}

    def _path(self, place: str, path: bytes = b"") -> str:
        """Where the holding container has a path of a place."""
        top = f"{_HELD}/{list(self._names).index(place)}"
        return f"{top}/{os.fsdecode(path)}" if path else top

    @staticmethod
    def _folders(parts: Sequence[bytes]) -> list[bytes]:
        """The folders on the way, outer first."""
        return [b"/".join(parts[: n + 1]) for n in range(len(parts))]

    def _missing(self, place: str, parts: Sequence[bytes]) -> list[bytes]:
        """Folders on the way that are not there yet. Raises InputError where one is something else."""
        return [f for f in self._folders(parts) if not self._is_folder(place, f, InputError)]

    def _is_folder(self, place: str, path: bytes, fault: type[ProgramSmithError], why: str = "") -> bool:
        """Whether a folder is there or nothing; raises `fault` for anything else. What is above it are folders."""
        mode = self._mode(self._path(place, path))
        if mode is not None and not mode & _FOLDER:
            raise fault(f"{path!r} below {place}: wanted a folder{why}, got something else")
        return mode is not None

    def _mode(self, path: str) -> int | None:
        """The mode of a path, itself and not what it leads to; None where nothing is."""
        told = header(f"/containers/{self._keeper}/archive", _STAT, path=path)
        return None if told is None else int(json.loads(base64.b64decode(told))["mode"])

    @contextlib.contextmanager
    def _archive(self, place: str, path: bytes) -> Iterator[tuple[Iterator[bytes], bytes]]:
        """The archive of a folder, and the name that stands before its entries."""
        inside = self._path(place, path)
        with downloading(f"/containers/{self._keeper}/archive", path=inside) as chunks:
            yield chunks, os.fsencode(inside.rpartition("/")[2])
