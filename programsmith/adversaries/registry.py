"""rules/adversaries.yaml and rules/defences.yaml, typed.

In: the two rule mappings, a target language, a choice (`core`, `all`, or ids). Out: adversaries in the rule's order.
Refused: an adversary whose defence is not listed, two of one id, an id that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from programsmith.bundle.controls import spoken
from programsmith.errors import InputError


class Expects(StrEnum):
    """What an adversary that gets through achieves: a reward, something left or heard outside, an ended grader."""

    SCORE = "score"
    DAMAGE = "damage"
    CRASH = "crash"


class Brings(StrEnum):
    """What an exploit is given beside its own files; each is something that its defence keeps it from using."""

    ANSWERS = "answers"  # table.txt: every answer, as a finished program would have it
    PROGRAM = "program"  # the table program as a module
    CODE = "code"  # answer.bin: the table program, compiled elsewhere
    PACKED = "packed"  # answer.txt: the same in base64
    MASKED = "masked"  # answer.dat: the table program as an ELF, each byte changed so that no magic tells it
    EXECUTABLE = "executable"  # a finished executable at the output path
    ASSEMBLER = "assembler"  # answer.s: the table program, compiled elsewhere to assembler
    LINK = "link"  # table.txt as a link to a file of the host
    SERVER = "server"  # server.txt: where a server on the host gives the answers away
    TOOL = "tool"  # tool.txt: the name of the tool
    OPENER = "opener"  # opener.py: what opens a sealed file with its secret
    LIBRARY = "library"  # answer.dat: the table program as a shared library that answers when it is loaded, masked
    FLAT = "flat"  # flat.dat: machine code that returns 42, without any header
    GZIPPED = "gzipped"  # answer.gz: the table program, compiled elsewhere and compressed
    HEXED = "hexed"  # answer.txt: the same in hexadecimal digits
    TWICE = "twice"  # answer.txt: compressed, then in base64
    BOMB = "bomb"  # bomb.gz: little that unpacks to much
    TESTS = "tests"  # tests/: a verifier's folder of its own, with a case that anything passes
    VICTIM = "victim"  # victim.txt: the number of a process of the host; its command line holds the answers
    TOKEN = "token"  # noqa: S105 - token.txt: a word by which the host knows the adversary's processes
    FOLDER = "folder"  # data as a link to a folder of the host that holds the table


class Plant(StrEnum):
    """What lies in the submission's folder though no archive of plain files could hold it."""

    SPECIALS = "specials"  # a fifo and a socket
    NAMES = "names"  # names that are no text, that a terminal or a page would obey, that are as long as can be
    SPARSE = "sparse"  # a file with more bytes than may be handed in, and none on disk
    MANY = "many"  # more files than may be handed in
    DEEP = "deep"  # more levels than may be handed in
    HARD_LINK = "hard_link"  # table.txt as a further name of a file of the host


@dataclass(frozen=True, slots=True, kw_only=True)
class Defence:
    """One defence. `without` says how a weakened bundle loses it: another program, other files, or both."""

    id: str
    stops: str
    without: tuple[str, ...]
    watched_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """One exploit.

    `exploit` names its program in payload/adversaries/<language>/, `build` its build script, `agent` a program that
    runs on the agent's side first; `ships` maps further files of the submission to files of payload/adversaries/ships/,
    and `way` is a word that tells exploits in one program apart. `plants` are odd things in the submission's folder.
    `cases` says which held-out cases it is graded on (`any`; `plain`: output, exit code 0, nothing else; `files`: with
    files of its own), `count` how many, `compare` how their output is compared; `limits`, `building` and `receiving`
    replace limits of a case, of the build, of what is handed in. `sees` are paths of the published bundle that its
    agent reads. A `fresh` one meddles with the grader's start. Its defence can be removed in `backends`.
    """

    id: str
    kind: str
    defence: str
    languages: tuple[str, ...]
    backends: tuple[str, ...]
    expects: Expects = Expects.SCORE
    core: bool = False
    exploit: str = "nothing"
    build: str = ""
    agent: str = ""
    brings: tuple[Brings, ...] = ()
    ships: Mapping[str, str] = field(default_factory=dict)
    way: str = ""
    plants: tuple[Plant, ...] = ()
    cases: str = "any"
    count: int = 2
    compare: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    building: Mapping[str, Any] = field(default_factory=dict)
    receiving: Mapping[str, Any] = field(default_factory=dict)
    sees: tuple[str, ...] = ()
    fresh: bool = False


def defences(rule: Mapping[str, Any]) -> dict[str, Defence]:
    """Defences by id. Raises InputError on two of one id."""
    rows = [
        Defence(id=r["id"], stops=r["stops"], without=tuple(r["without"]), watched_by=tuple(r["watched_by"]))
        for r in rule["defences"]
    ]
    _once("rules/defences.yaml", (row.id for row in rows))
    return {row.id: row for row in rows}


def adversaries(rule: Mapping[str, Any], known: Mapping[str, Defence]) -> dict[str, Adversary]:
    """Adversaries by id, in the rule's order. Raises InputError."""
    rows = [_adversary(row) for row in rule["adversaries"]]
    _once("rules/adversaries.yaml", (row.id for row in rows))
    for row in rows:
        if row.defence not in known:
            raise InputError(f"rules/adversaries.yaml: {row.id}: no defence {row.defence!r} in rules/defences.yaml")
    return {row.id: row for row in rows}


def chosen(rows: Mapping[str, Adversary], wanted: str | Iterable[str], language: str) -> tuple[Adversary, ...]:
    """Those of `core`, `all`, or of the listed ids that have an exploit in the language. Raises InputError."""
    if isinstance(wanted, str):
        picked = [row for row in rows.values() if row.core or wanted == "all"]
    else:
        unknown = sorted(set(wanted) - set(rows))
        if unknown:
            raise InputError(f"probe.adversaries: {unknown[0]}: no such adversary in rules/adversaries.yaml")
        picked = [rows[name] for name in wanted]
    return tuple(row for row in picked if spoken(language) in row.languages)


def _adversary(row: Mapping[str, Any]) -> Adversary:
    return Adversary(
        id=row["id"],
        kind=row["class"],
        defence=row["defence"],
        languages=tuple(row["languages"]),
        backends=tuple(row["backends"]),
        expects=Expects(row["expects"]),
        core=row["set"] == "core",
        exploit=row["exploit"],
        build=row.get("build", ""),
        agent=row.get("agent", ""),
        brings=tuple(Brings(word) for word in row["brings"]),
        ships=row["ships"],
        way=row.get("way", ""),
        plants=tuple(Plant(word) for word in row["plants"]),
        cases=row["cases"],
        count=row["count"],
        compare=row.get("compare", ""),
        limits=row["limits"],
        building=row["building"],
        receiving=row["receiving"],
        sees=tuple(row["sees"]),
        fresh=row["fresh"],
    )


def _once(where: str, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise InputError(f"{where}: {name} stands there twice; give each its own id")
        seen.add(name)
