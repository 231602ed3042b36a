"""The volumes of one sandbox, and the container that holds them between runs: it is created and never started."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from programsmith.payload.verifier.model import FileEntry
from programsmith.sandboxes import docker_archives
from programsmith.sandboxes.docker_container import Plan, create, make_volume, remove_container, remove_volume

_HELD = "/held"


class Volumes:
    """Volumes by the place that they have inside. Close them."""

    def __init__(self, image: str, places: Sequence[str]) -> None:
        self._names: dict[str, str] = {}
        self._keeper = ""
        try:
            for place in places:
                self._names[place] = make_volume()
            held = {self._path(place): (volume, True) for place, volume in self._names.items()}
            plan = Plan(image=image, command=["true"], workdir="/", memory_bytes=1 << 26, pids=8, volumes=held)
            self._keeper = create(plan)
        except BaseException:
            self.close()
            raise

    def __getitem__(self, place: str) -> str:
        """The name of a place's volume."""
        return self._names[place]

    def fill(self, place: str, entries: Iterable[FileEntry], owner: int) -> None:
        """Lay entries of ours down at the top of a place. Raises InfraError."""
        docker_archives.fill(self._keeper, self._path(place), entries, owner)

    def put(self, place: str, parts: Sequence[bytes], entries: Iterable[FileEntry], owner: int) -> None:
        """Lay entries down below a folder of a place, replacing what is there. Raises InputError, InfraError."""
        docker_archives.put(self._keeper, self._path(place), parts, entries, owner)

    def take(
        self, place: str, parts: Sequence[bytes], *, max_files: int, max_bytes: int, cut: bool
    ) -> tuple[FileEntry, ...]:
        """Entries below a folder of a place. Raises InputError past a cap or where there is no such folder."""
        top = self._path(place)
        return docker_archives.take(self._keeper, top, parts, max_files=max_files, max_bytes=max_bytes, cut=cut)

    def program(self, path: str, name: str) -> FileEntry:
        """A program of the image, links followed, as an entry of another name. Raises InfraError."""
        return FileEntry(name.encode(), mode=0o755, content=docker_archives.content(self._keeper, path))

    def close(self) -> None:
        """Remove the container and the volumes. Idempotent."""
        if self._keeper:
            remove_container(self._keeper)
        for volume in self._names.values():
            remove_volume(volume)
        self._keeper, self._names = "", {}

    def _path(self, place: str) -> str:
        """Where the holding container has a place."""
        return f"{_HELD}/{list(self._names).index(place)}"
