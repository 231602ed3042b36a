"""Checks of the entries that name who tries: what an agent runs, what it is shown, that no two share their trials.

In: a Spec with defaults filled in, the project's root. Refuses the first fault in one line (InputError).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programsmith.records.trial import pair_of
from programsmith.rulebook.document import Keys, dotted
from programsmith.rulebook.fault import fault, quoted, shown
from programsmith.spec.checks import WITH_MODEL, pairs
from programsmith.spec.model import Spec

PROGRAM = {"script": "scripted", "command": "command"}
"""Fields that say what an agent runs, and the agent that needs them."""
FOLDER = "folder"
MAY = {FOLDER: ("command",), "usd": ("command", *WITH_MODEL)}
"""Fields that an entry may have, and the agents that have a use for them."""


def check_entries(spec: Spec, project: Path) -> None:
    """All checks of entries. Raises InputError."""
    for keys, pair in pairs(spec.values):
        _program(spec, keys, pair)
        _shown(spec, project, keys, pair)
    _twins(spec)
    _shared(spec)
    for i, band in enumerate(spec.values["difficulty"]):
        _basis(spec, i, band["basis"])


def _program(spec: Spec, keys: Keys, pair: Mapping[str, Any]) -> None:
    agent = pair["agent"]
    for name, owners in {**{name: (owner,) for name, owner in PROGRAM.items()}, **MAY}.items():
        field, value = dotted((*keys, name)), pair.get(name)
        if agent in owners and value is None and name in PROGRAM:
            raise fault(spec.place(*keys), field, f"what {quoted(agent)} runs", "nothing")
        if agent not in owners and value is not None:
            wanted = f"none, for {quoted(agent)} has no use for it"
            raise fault(spec.place(*keys, name), field, wanted, quoted(str(value)))


def _shown(spec: Spec, project: Path, keys: Keys, pair: Mapping[str, Any]) -> None:
    """Refuse to show an agent a folder that is not there, or that holds or lies in what it must not see."""
    name = "script" if pair["agent"] == "scripted" else FOLDER
    if pair.get(name) is None:
        return
    place, field, path = spec.place(*keys, name), dotted((*keys, name)), project / pair[name]
    there = path.is_file() if name == "script" else path.is_dir()
    if not there:
        kind = "a file" if name == "script" else "a folder"
        raise fault(place, field, f"{kind} below the project's root", f"{quoted(pair[name])}, where no such thing is")
    folder = (path.parent if name == "script" else path).resolve()
    for closed in _closed(spec, project):
        if folder.is_relative_to(closed) or closed.is_relative_to(folder):
            wanted = "a folder of its own, since all of it is shown to the agent"
            raise fault(place, field, wanted, f"{quoted(pair[name])}, through which it sees {shown(closed, project)}")


def _closed(spec: Spec, project: Path) -> Iterator[Path]:
    """What no agent sees: state, exports, and the program that it is to write."""
    source = spec.values["source"]["path"]
    yield from ((project / name).resolve() for name in ("cache", "dist", *([source] if source else [])))


def _twins(spec: Spec) -> None:
    """Refuse two entries whose trials would lie in one folder."""
    for field in ("rollouts", "sweep"):
        entries = spec.values[field] if isinstance(spec.values[field], list) else []
        names: dict[str, int] = {}
        for i, entry in enumerate(entries):
            first = names.setdefault(pair_of(entry).folder, i)
            if first != i:
                raise fault(
                    spec.place(field, i),
                    f"{field}[{i}]",
                    "a pair of its own",
                    f"{quoted(pair_of(entry).folder)}, which {field}[{first}] is too",
                    "one entry holds all trials of a pair",
                )


def _shared(spec: Spec) -> None:
    """Refuse a pair of the sweep that bears the name of one of rollouts, whose trials it shares, and runs another."""
    rollouts = {pair_of(entry).folder: (i, entry) for i, entry in enumerate(spec.values["rollouts"])}
    sweep = spec.values["sweep"] if isinstance(spec.values["sweep"], list) else []
    for i, entry in enumerate(sweep):
        name = pair_of(entry).folder
        first, known = rollouts.get(name, (i, entry))
        for field in (*PROGRAM, FOLDER):
            if entry.get(field) != known.get(field):
                keys: Keys = ("sweep", i)
                wanted = f"the {field} of rollouts[{first}], whose trials a pair of the same name shares"
                got = quoted(entry[field]) if entry.get(field) else "none"
                raise fault(
                    spec.place(*keys), f"{dotted(keys)}.{field}", wanted, got, "a model of its own names it apart"
                )


def _basis(spec: Spec, i: int, basis: Any) -> None:
    known = [pair_of(entry).folder for entry in spec.values["rollouts"]]
    if isinstance(basis, dict) and pair_of(basis).folder not in known:
        keys: Keys = ("difficulty", i, "basis")
        got = f"{quoted(pair_of(basis).folder)}, of which there are none"
        raise fault(spec.place(*keys), dotted(keys), "a pair of rollouts", got)
