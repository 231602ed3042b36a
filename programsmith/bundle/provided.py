"""How others come by a task's images: by digest from a registry, or from root file systems that the export carries.

In: the files of a bundle, and what is provided. Out: the files that say so, and from them again the files as they were
judged. Only task.toml and the Dockerfiles are edited, line by line, so that whoever reads one can tell what was
added. A digest that no registry told is written nowhere. The container that answers queries is built by whoever runs
the task, on the verifier's base.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from programsmith.bundle.harbor import dump_toml
from programsmith.bundle.tree import ANSWERS
from programsmith.errors import InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec

TASK = "task.toml"
PROVIDED = "images"
"""Where provenance.json says what is provided."""
ROOT = "{folder}/{stage}.tar.gz"
ANSWERING = "reference"
FOLDERS = {"agent": "environment", "verifier": "tests", ANSWERING: ANSWERS.rstrip("/")}
"""Build contexts by whose container they make; that of who answers queries is not in every task."""
STAGES = frozenset({"base", "compiler"})
REFERENCE = re.compile(r"[^@\s]+@sha256:[0-9a-f]{64}")
ARGUMENT = re.compile(r"^ARG (BASE|COMPILER)=(\S+)$", re.MULTILINE)
COPIED, PICKED = "COPY . {place}\n", "COPY --from=context /context {place}\n"
PLACES = {"verifier": "/tests", ANSWERING: "/reference"}
"""Where an image has its whole context."""
CARRIED = 'FROM scratch AS {stage}\nADD {stage}.tar.gz /\nCMD ["bash"]\n'
SORTED_OUT = "FROM {stage} AS context\nCOPY . /context\nRUN rm /context/*.tar.gz\n"
"""Such an image has its context and not the root file systems that lie in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """What is provided of a bundle whose Dockerfiles name the base `public`.

    `bases` says by side and argument what stands there instead: a reference in a registry, or the stage of a Dockerfile
    that is made of the file system beside it. `images` are both containers' references in a registry; none where file
    systems are carried.
    """

    public: str
    bases: dict[str, dict[str, str]]
    images: dict[str, str] = field(default_factory=dict)

    @property
    def carries(self) -> bool:
        """Whether root file systems lie in the export."""
        return not self.images

    @property
    def roots(self) -> tuple[str, ...]:
        """Paths of the root file systems that are carried."""
        rows = self.bases.items() if self.carries else ()
        return tuple(sorted({ROOT.format(folder=FOLDERS[s], stage=stage) for s, row in rows for stage in row.values()}))


def provide(files: Mapping[str, FileEntry], given: Provided, roots: Mapping[str, bytes]) -> dict[str, FileEntry]:
    """The files of a bundle with what is provided. `roots` has the content of every root that is carried."""
    made = dict(files)
    for side in given.bases:
        path = f"{FOLDERS[side]}/Dockerfile"
        made[path] = _edited(files[path], _edits(given, side))
    made[TASK] = _with_images(files[TASK], given.images)
    made |= {path: FileEntry(path.encode("ascii"), "file", 0o644, roots[path]) for path in given.roots}
    return made


def as_judged(files: Mapping[str, FileEntry], given: Provided | None) -> dict[str, FileEntry]:
    """The files without what is provided. Raises InputError where they do not say what is."""
    if given is None:
        return dict(files)
    made = {path: e for path, e in files.items() if path not in given.roots}
    for side in given.bases:
        path = f"{FOLDERS[side]}/Dockerfile"
        made[path] = _edited(files[path], [(new, old) for old, new in reversed(_edits(given, side))])
    task = tomllib.loads(files[TASK].content.decode("utf-8"))
    said = {side: place.pop("docker_image") for side, place in _places(task) if "docker_image" in place}
    if said != given.images:
        raise InputError(f"{TASK}: docker_image: wanted {given.images or 'none'}, got {said or 'none'}")
    made[TASK] = dataclasses.replace(files[TASK], content=dump_toml(task))
    return made


def provided(proof: Mapping[str, Any]) -> Provided | None:
    """What provenance.json says is provided; None where nothing is. Raises ValueError, KeyError, TypeError."""
    if PROVIDED not in proof:
        return None
    given: Provided = codec.decode(Provided, proof[PROVIDED])
    names = [name for row in given.bases.values() for name in row.values()]
    if given.bases.keys() - {ANSWERING} != FOLDERS.keys() - {ANSWERING}:
        raise ValueError(f"{PROVIDED}: wanted what each container is built on, got {', '.join(given.bases) or 'none'}")
    if given.carries:
        odd = [name for name in names if name not in STAGES]
    else:
        odd = [name for name in (*names, *given.images.values()) if not REFERENCE.fullmatch(name)]
    if odd:
        raise ValueError(f"{PROVIDED}: wanted stages of ours or references by digest, got {odd[0]!r}")
    return given


def public_base(files: Mapping[str, FileEntry]) -> str:
    """The base that a bundle's Dockerfiles name."""
    paths = (f"{folder}/Dockerfile" for folder in FOLDERS.values())
    names = {name for path in paths if path in files for _, name in _arguments(files[path])}
    if len(names) != 1:
        raise InputError(f"the Dockerfiles: wanted one base by its public name, got {', '.join(sorted(names))}")
    return names.pop()


def _arguments(entry: FileEntry) -> list[tuple[str, str]]:
    return ARGUMENT.findall(entry.content.decode("utf-8", "replace"))


def _edits(given: Provided, side: str) -> list[tuple[str, str]]:
    """What stands in a side's Dockerfile as it was judged, and what stands there instead, each a whole line."""
    row = given.bases[side]
    edits = [(f"ARG {name}={given.public}\n", f"ARG {name}={row[name]}\n") for name in sorted(row)]
    if given.carries:
        last = max(row)
        stages = "".join(CARRIED.format(stage=stage) for stage in sorted({*row.values()}))
        if side in PLACES:
            stages += SORTED_OUT.format(stage=row["BASE"])
            edits.append((COPIED.format(place=PLACES[side]), PICKED.format(place=PLACES[side])))
        edits.append((f"ARG {last}={row[last]}\n", f"ARG {last}={row[last]}\n{stages}"))
    return edits


def _edited(entry: FileEntry, edits: list[tuple[str, str]]) -> FileEntry:
    """The file with each line replaced. Raises InputError where one does not stand there once."""
    text = entry.content.decode("utf-8", "surrogateescape")
    for old, new in edits:
        if f"\n{text}".count(f"\n{old}") != 1:
            raise InputError(f"{entry.path.decode()}: wanted once {old.splitlines()[0]!r} and what belongs to it")
        text = f"\n{text}".replace(f"\n{old}", f"\n{new}")[1:]
    return dataclasses.replace(entry, content=text.encode("utf-8", "surrogateescape"))


def _with_images(entry: FileEntry, images: Mapping[str, str]) -> FileEntry:
    task = tomllib.loads(entry.content.decode("utf-8"))
    for side, place in _places(task):
        if side in images:
            place["docker_image"] = images[side]
    return dataclasses.replace(entry, content=dump_toml(task))


def _places(task: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The table of each container."""
    yield "agent", task["environment"]
    yield "verifier", task["verifier"]["environment"]
