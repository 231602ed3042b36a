"""The container that answers queries beside an agent's, where an exported task runs: its context and its compose file.

In: what whoever answers is given, the original's toolchain, rules, the sealed solution. Out: the files. The original in
it is under the key of the solution, as whoever may open the one may open the other; held-out cases are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from programsmith.bundle.places import answering, room, slot_places
from programsmith.bundle.render import dockerfile, file_of, server_sources, server_words, template, variables
from programsmith.bundle.seal import Sealed
from programsmith.bundle.sides import shown_sides
from programsmith.bundle.submissions import sealed_beside
from programsmith.bundle.tree import ANSWERS, COMPOSE
from programsmith.bundle.zipapp import answer_pyz
from programsmith.goldens.constants import constants
from programsmith.payload.query.desk import Meter
from programsmith.payload.query.given import RUN_BYTES, Given, encode_given, telling
from programsmith.payload.query.serve import NOTE, PLACES, SEALED
from programsmith.payload.query.wire import SOCKET
from programsmith.payload.verifier.model import FileEntry, GradedCase, Limits, canonical
from programsmith.payload.verifier.unseal import SECRET_NAME
from programsmith.records import codec
from programsmith.records.lock import OracleFacts
from programsmith.sources.tree import SourceTree, read_tar
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.model import Toolchain

DROPPED = (
    *("AUDIT_WRITE", "FOWNER", "FSETID", "MKNOD", "NET_BIND_SERVICE"),
    *("NET_RAW", "SETFCAP", "SETPCAP", "SYS_CHROOT"),
)
"""What an engine gives every container and whoever starts others under users of their own does without."""
OWN_MEMORY = 1 << 29  # bytes of whoever answers: queries and answers that are held, the text that they are searched for
FIGURES = {
    "slots": re.compile(r"^    cpus: (\d{1,4})$", re.MULTILINE),
    "memory": re.compile(r"^    mem_limit: (\d{1,15})$", re.MULTILINE),
    "pids": re.compile(r"^    pids_limit: (\d{1,9})$", re.MULTILINE),
    "bytes": re.compile(r",size=(\d{1,15}),"),
    "files": re.compile(r",nr_inodes=(\d{1,15})"),
}
"""Where a compose file of ours has its figures."""
SLOTS_MOST = 256
SECRET = f"\n    environment:\n      {SECRET_NAME}: ${{{SECRET_NAME}}}"


class Work(Protocol):
    """What of a job is read for whoever answers."""

    @property
    def rules(self) -> Callable[[str], Any]:
        """Rule files by name."""

    @property
    def inputs(self) -> Mapping[str, Path]:
        """Artifacts by name."""


PROGRAM, ORIGINAL, ANSWERS_NOTE = f"{ANSWERS}answer.pyz", ANSWERS + SEALED, ANSWERS + NOTE
ANSWERING = (COMPOSE, f"{ANSWERS}Dockerfile", PROGRAM, ORIGINAL, ANSWERS_NOTE, ANSWERS + PLACES)
"""What a bundle has of the container that answers, but for the sources of its launch server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What answers queries: what it is given, the original's toolchain, what that may start, the rule of containers."""

    given: Given
    source: Toolchain
    exec_allowed: tuple[str, ...]
    containers: Mapping[str, Any]
    owner_secret: bytes | None = None

    def files(self, solution: Sealed) -> Iterator[FileEntry]:
        """The files of a bundle whose solution is sealed so."""
        yield file_of(COMPOSE, self.compose())
        yield from (file_of(path, content) for path, content in server_sources(ANSWERS).items())
        yield file_of(f"{ANSWERS}Dockerfile", self._dockerfile())
        yield file_of(PROGRAM, answer_pyz())
        yield file_of(ORIGINAL, sealed_beside(solution, encode_given(self.given), self.owner_secret))
        yield file_of(ANSWERS_NOTE, solution.seal)
        yield file_of(ANSWERS + PLACES, self.places())

    def places(self) -> bytes:
        """How its container isolates a query."""
        slots = self.given.meter.slots
        return canonical(answering(self.source, self.exec_allowed, slots, self.containers))

    def compose(self) -> bytes:
        """The compose file."""
        return compose(self.given, self.containers["verifier"]["pids"], is_owners=self.owner_secret is not None)

    def _dockerfile(self) -> bytes:
        packages = (*self.source.run_packages, *self.containers["packages"]["verifier"])
        places = " ".join(place for one in slot_places(self.given.meter.slots) for place in one.values())
        return dockerfile("reference", self.source.public_base, packages, (), places=places, **server_words())


def compose(given: Given, pids: int, *, is_owners: bool) -> bytes:
    """The compose file, for a container of at most `pids` processes; `is_owners`: it gets the owner's secret."""
    limits, slots = given.limits, given.meter.slots
    figures = {
        "slots": slots,
        "memory": slots * limits.memory_bytes + OWN_MEMORY,
        "pids": pids,
        "bytes": limits.work_bytes,
        "files": limits.work_files,
    }
    return _compose(figures, is_owners=is_owners)


def is_compose(raw: bytes) -> bool:
    """Whether a compose file is one of ours, whatever its figures."""
    text = raw.decode("ascii", "replace")
    found = {name: [int(digits) for digits in pattern.findall(text)] for name, pattern in FIGURES.items()}
    if not all(found.values()):
        return False
    figures = {name: values[0] for name, values in found.items()} | {"files": found["files"][0] - 1}
    return figures["slots"] <= SLOTS_MOST and raw in (_compose(figures, is_owners=own) for own in (False, True))


def _compose(figures: Mapping[str, int], *, is_owners: bool) -> bytes:
    own = room(figures["bytes"], figures["files"])
    places = [place for one in slot_places(figures["slots"]) for place in one.values()]
    words = {
        **figures,
        "folder": SOCKET.rpartition("/")[0],
        "socket": SOCKET,
        "context": ANSWERS.rstrip("/"),
        "dropped": ", ".join(DROPPED),
        "secret": SECRET if is_owners else "",
        "places": "\n".join(f'      - "{place}:{own}"' for place in places),
    }
    return template("docker-compose.yaml", words)


def given(job: Work, public: Iterable[GradedCase], docs: Iterable[bytes]) -> Given:
    """What whoever answers is given: the original, and what a task with these cases and documents shows of it."""
    facts, cases = codec.load(job.inputs["facts.json"], OracleFacts), tuple(public)
    tree, rule = tuple(read_tar(job.inputs["oracle.tar"])), job.rules("limits")
    printed = constants(SourceTree.open(job.inputs["source.tar"]), tree, facts.language, RUN_BYTES)
    return Given(
        tree=tree,
        program=facts.program,
        tool=facts.tool,
        suffixes=toolchains(job.rules("toolchains"))[facts.language].suffixes,
        limits=Limits(**rule["capture"]),
        meter=Meter(**rule["query"]),
        shown=(*docs, *shown_sides(cases), *sorted(printed)),
        variables=tuple(name.encode() for name in variables(cases)),
        known=telling(cases),
    )
