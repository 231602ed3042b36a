"""Images: built by the classic builder from a context of entries, told apart by what they hold and not by when.

In: a context, a base that is here, a tag. Out: an image, and its content digest: SHA-256 over what it runs by default
and over path, type, mode, owner and content in each of its layers. A rebuild that holds the same has the same digest,
whatever its times. Refused: a base that the engine does not have, since the builder would fetch it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, TYPE_CHECKING

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry, canonical
from programsmith.sandboxes.engine import LABEL, downloading, engine, find_image, talking
from programsmith.sandboxes.owners import place, prefix
from programsmith.sandboxes.shared import shared_root
from programsmith.sandboxes.tars import Chunks, write_tar_bytes

if TYPE_CHECKING:
    from docker.models.images import Image

DOCKERFILE = b"Dockerfile"
FROM = ("BASE", "COMPILER")
_RUNS = ("Cmd", "Entrypoint", "Env", "User", "WorkingDir")
_MAGIC = slice(257, 262)
_HEAD = 512
_BLOCK = 1 << 20
_SAYS = 2000  # characters of a build's log that an error shows


def require_image(name: str, provide: str) -> Image:
    """The image `name`. Raises PrerequisiteError with the command that provides it where it is absent."""
    found = find_image(name)
    if found is None:
        raise PrerequisiteError(f"the Docker engine has no image {name}; run: {provide}")
    return found


def folder_context(folder: Path) -> list[FileEntry]:
    """The files of a folder of ours as a build context."""
    return [
        FileEntry(str(p.relative_to(folder)).encode(), "file", 0o644, p.read_bytes())
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    ]


def context_digest(context: Iterable[FileEntry], bases: Iterable[str]) -> str:
    """What decides a build: the ids of the images that it is made on, and every entry of the context."""
    total = hashlib.sha256("".join(f"{base}\n" for base in bases).encode())
    for entry in sorted(context):
        total.update(canonical([entry.path.hex(), entry.kind, entry.mode, hashlib.sha256(entry.content).hexdigest()]))
    return total.hexdigest()


def build_image(
    context: Sequence[FileEntry], tag: str, arguments: Mapping[str, str], network: str, label: str = ""
) -> Image:
    """Build and tag. `arguments` name the images to build on, BASE and where need be COMPILER.

    `label` is one that it gets besides ours. Raises InfraError with the end of the log, or where one is absent.
    """
    log: list[str] = []
    for name in (arguments[key] for key in FROM if key in arguments):
        if find_image(name) is None:
            raise InfraError(f"Docker engine: building {tag}: no image {name}, and none is fetched")
    with talking(f"building {tag}"):
        for said in engine().api.build(
            fileobj=io.BytesIO(write_tar_bytes(context, 0)),
            custom_context=True,
            tag=tag,
            buildargs=dict(arguments),
            network_mode=network,
            labels={LABEL: place()} | ({label: ""} if label else {}),
            pull=False,
            rm=True,
            forcerm=True,
            decode=True,
        ):
            log.append(said.get("stream", "") or said.get("error", ""))
            if "error" in said:
                raise InfraError(f"Docker engine: building {tag}: {''.join(log)[-_SAYS:]}")
    found = find_image(tag)
    if found is None:
        raise InfraError(f"Docker engine: {tag} was built and is not here: {''.join(log)[-_SAYS:]}")
    return found


def content_digest(image: Image, volatile: Sequence[str]) -> str:
    """The digest of what the image holds; paths that fit a pattern of `volatile` do not count. Raises InfraError."""
    known = _Known(shared_root() / "layers.json", volatile)
    for layer in read_layers(image):
        if layer.name not in known.layers:
            held = _digest(layer.entries, volatile)
            known.layers[layer.name] = layer.diff_id, held
    known.save()
    digests = dict(known.layers.values())
    config = {name: image.attrs["Config"].get(name) for name in _RUNS}
    order = [digests[diff_id] for diff_id in image.attrs["RootFS"]["Layers"]]
    return hashlib.sha256(canonical([config, order])).hexdigest()


class _Known:
    """(diff_id, digest) of layers by the name that an archive gives them; content decides it, so this is never old."""

    def __init__(self, file: Path, volatile: Sequence[str]) -> None:
        self._file = file
        self._about = hashlib.sha256(canonical(list(volatile))).hexdigest()
        self._all: dict[str, dict[str, tuple[str, str]]] = {}
        with contextlib.suppress(OSError, ValueError):
            self._all = json.loads(file.read_bytes())
        self.layers = self._all.setdefault(self._about, {})

    def save(self) -> None:
        """Write the memory; the last writer wins, and what another one learnt is learnt again."""
        fd, name = tempfile.mkstemp(prefix=prefix(".part"), dir=self._file.parent)
        with open(fd, "w", encoding="ascii") as out:
            json.dump(self._all, out)
        os.replace(name, self._file)


class Layer:
    """One layer while it streams by. `diff_id` holds once `entries` came to their end."""

    def __init__(self, name: str, content: IO[bytes], head: bytes) -> None:
        self.name = name
        self._content = content
        self._head = head
        self._total = hashlib.sha256(head)
        self.diff_id = ""

    @property
    def entries(self) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
        """Each entry of the layer with its content, which must be read before the next one."""
        with tarfile.open(
            fileobj=Chunks(self._chunks()), mode="r|", encoding="utf-8", errors="surrogateescape", bufsize=_BLOCK
        ) as tar:
            for member in tar:
                yield member, tar.extractfile(member) if member.isreg() else None
        for _ in self._chunks():
            pass  # padding belongs to the layer's own digest
        self.diff_id = f"sha256:{self._total.hexdigest()}"

    def _chunks(self) -> Iterator[bytes]:
        if self._head:
            head, self._head = self._head, b""
            yield head
        while part := self._content.read(_BLOCK):
            self._total.update(part)
            yield part


def read_layers(image: Image) -> Iterator[Layer]:
    """The layers of an image, each to be read to its end or not at all. A layer that comes twice is told once.

    Both archive forms of engines are read: what is a tar inside is a layer.
    """
    with (
        downloading(f"/images/{image.id}/get") as chunks,
        tarfile.open(fileobj=Chunks(chunks), mode="r|", bufsize=_BLOCK) as archive,
    ):
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            head = content.read(_HEAD) if content else b""
            if content and (head[_MAGIC] == b"ustar" or (len(head) == _HEAD and not head.strip(b"\0"))):
                yield Layer(member.name, content, head)


def _sha256(content: IO[bytes]) -> str:
    total = hashlib.sha256()
    while part := content.read(_BLOCK):
        total.update(part)
    return total.hexdigest()


def _digest(entries: Iterable[tuple[tarfile.TarInfo, IO[bytes] | None]], volatile: Sequence[str]) -> str:
    lines = []
    for member, content in entries:
        name = member.name.removeprefix("./")
        if any(fnmatchcase(name, pattern) for pattern in volatile):
            continue
        sha = _sha256(content) if content else ""
        more = sorted((k, v) for k, v in member.pax_headers.items() if "xattr" in k)
        kind = member.type.decode("ascii", "replace")
        lines.append(json.dumps([name, kind, member.mode, member.uid, member.gid, member.linkname, sha, more]))
    return hashlib.sha256("\n".join(sorted(lines)).encode("ascii")).hexdigest()
