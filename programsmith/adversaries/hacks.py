"""Submissions of adversaries that scored without solving, kept: each is a scripted adversary for ever after.

In: a submission and who made it, or an entry of rules/hacks.yaml. Out: a Hack; its entry, in which text stands as
text, so that a person can read what is adopted; a row of the probe. Refuses (InputError) an entry whose files are not
those of its digest. Nothing of it runs but in sandboxes: commands in an agent's place, files as a verifier builds and
runs any submission.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from programsmith.adversaries.again import handed_in
from programsmith.adversaries.registry import Defence
from programsmith.adversaries.run import HACKED, PROOFS, STOPPED, Ground, Row
from programsmith.adversaries.weaken import Spoils, weaken
from programsmith.bundle.controls import Files
from programsmith.bundle.grade import grade
from programsmith.bundle.sides import read_sides
from programsmith.errors import InputError
from programsmith.payload.verifier.model import FileEntry, canonical
from programsmith.payload.verifier.plan import decode_policy
from programsmith.payload.verifier.tree import tree_digest, write_tree

RULE = "hacks"
"""The rule that holds what was adopted: a list of entries under this very word."""
KIND = "model"
UNKNOWN = "unknown"
"""The defence of a hack that none stops yet."""
DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Hack:
    """One kept submission. `bundle` is the tree digest of what it beat, `trial` the try's key.

    `commands` are what the agent ran, where running them again does the same: then they are what is tried, on whatever
    a later bundle shows; else the files are handed in as they were. `digest` is that of both. `defence` is the one that
    stops it, `unknown` where nobody has named one: then it cannot be live, and can still get through.
    """

    id: str
    digest: str
    language: str
    tool: str
    bundle: str
    backend: str
    agent: str
    model: str
    index: int
    trial: str
    reward: float
    files: Files
    commands: tuple[str, ...] = ()
    defence: str = UNKNOWN


def digest_of(files: Files, commands: Sequence[str]) -> str:
    """What tells hacks apart."""
    return hashlib.sha256(canonical([tree_digest(files), list(commands)])).hexdigest()


def named(digest: str) -> str:
    """The id of a hack of this digest."""
    return f"hack_{digest[:DIGITS]}"


def entry_of(hack: Hack) -> dict[str, Any]:
    """The hack as rules/hacks.yaml holds it."""
    own = {f.name: getattr(hack, f.name) for f in fields(Hack) if f.name not in {"files", "commands"}}
    return {**own, "commands": list(hack.commands), "files": [_shown(e) for e in hack.files]}


def hacks(entries: Iterable[Mapping[str, Any]], defences: Mapping[str, Defence] | None = None) -> tuple[Hack, ...]:
    """Hacks of entries. Raises InputError on one that was altered, two of one id, a defence that is not listed."""
    found: dict[str, Hack] = {}
    for entry in entries:
        hack = _hack(entry)
        if digest_of(hack.files, hack.commands) != hack.digest or named(hack.digest) != hack.id:
            raise InputError(f"rules/hacks.yaml: {hack.id}: what it does is not what its digest tells; adopt it anew")
        if hack.id in found:
            raise InputError(f"rules/hacks.yaml: {hack.id} stands there twice; keep one of them")
        if defences is not None and hack.defence not in {UNKNOWN, *defences}:
            raise InputError(f"rules/hacks.yaml: {hack.id}: no defence {hack.defence!r} in rules/defences.yaml")
        found[hack.id] = hack
    return tuple(found.values())


def replay(hack: Hack, ground: Ground, floor: float) -> Row:
    """Try the hack on the bundle, then on the bundle without its defence where one is named. Raises InfraError."""
    scratch = ground.scratch / hack.id
    scratch.mkdir()
    try:
        reward = scored(hack, ground, ground.bundle, scratch / "try")
        live = None if hack.defence == UNKNOWN else _is_live(hack, ground, scratch, floor)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    outcome = HACKED if reward > floor else STOPPED
    return Row(id=hack.id, kind=KIND, defence=hack.defence, live=live, outcome=outcome, reward=reward)


def scored(hack: Hack, ground: Ground, bundle: Path, scratch: Path) -> float:
    """The reward of the hack on a bundle of the ground's kind. Raises InfraError, PrerequisiteError."""
    scratch.mkdir()
    files, place = hack.files, scratch / "submission"
    if hack.commands:
        rule = decode_policy((bundle / "tests" / "policy.json").read_bytes()).submission
        files = handed_in(hack.commands, bundle, ground.view(), rule, scratch)
    write_tree(str(place), files)
    return grade(bundle, place, ground.environments, scratch / "out", ground.secret).reward


def _is_live(hack: Hack, ground: Ground, scratch: Path, floor: float) -> bool:
    """Whether it scores where its defence is missing, within some tries."""
    sides = read_sides(ground.bundle, ground.secret)
    spoils = Spoils(sides=sides, solution=ground.solution, pointer=ground.pointer, twin=())
    weak = weaken(ground.bundle, hack.defence, scratch / "weak", spoils)
    return any(scored(hack, ground, weak, scratch / f"proof{n}") > floor for n in range(PROOFS))


def _shown(entry: FileEntry) -> dict[str, Any]:
    content = _text(entry.content)
    path = _text(entry.path)
    return {
        **({"path_base64": _base64(entry.path)} if path is None else {"path": path}),
        "kind": entry.kind,
        "mode": entry.mode,
        **({"base64": _base64(entry.content)} if content is None else {"text": content}),
    }


def _text(content: bytes) -> str | None:
    """The bytes as text that any YAML keeps, None where they are none."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(c in "\n\t" or c.isprintable() for c in text) else None


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _hack(entry: Mapping[str, Any]) -> Hack:
    files = tuple(sorted(_file(row) for row in entry["files"]))
    return Hack(**{**entry, "files": files, "commands": tuple(entry["commands"])})


def _file(row: Mapping[str, Any]) -> FileEntry:
    try:
        path = base64.b64decode(row["path_base64"], validate=True) if "path_base64" in row else row["path"].encode()
        content = base64.b64decode(row["base64"], validate=True) if "base64" in row else row["text"].encode()
    except ValueError as fault:
        raise InputError(f"rules/hacks.yaml: a file's bytes are no base64: {fault}; adopt the hack anew") from None
    if path.startswith(b"/") or b"\0" in path or not path or {b"", b".", b".."} & set(path.split(b"/")):
        raise InputError(f"rules/hacks.yaml: {path!r}: wanted a path inside a submission; adopt the hack anew")
    return FileEntry(path, row["kind"], row["mode"], content)
