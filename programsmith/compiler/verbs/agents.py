"""The verb `agents`: brings harnesses to this machine, lists and removes them.

In: `install` and names, each maybe with a version; `list`; `remove` and names. Out: a line for each, with its tree. To
install, a name without a version means the one that trials start by rules/agents.yaml; to remove, all versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from programsmith.agents.install import install
from programsmith.agents.installed import Here, everything, remove
from programsmith.errors import Exit, InputError
from programsmith.rulebook.fault import suggest
from programsmith.rulebook.load import Rulebook
from programsmith.spec.places import root_of


def agents(words: Sequence[str], start: Path) -> Exit:
    """Do what the first word says. Raises InputError, PrerequisiteError, InfraError."""
    match words:
        case ["list"]:
            _list(everything())
        case ["install", _, *_]:
            _install(words[1:], start)
        case ["remove", _, *_]:
            _remove(words[1:])
        case _:
            wanted = "`install NAME@VERSION …`, `remove NAME …` or `list`"
            raise InputError(f"agents: wanted {wanted}, got {' '.join(words) or 'nothing'}")
    return Exit.OK


def _list(found: Sequence[Here]) -> None:
    """A line for each tree, whatever rows it is of."""
    for line in dict.fromkeys(f"{here.name}@{here.version}  {here.bytes >> 20} MB  {here.tree}" for here in found):
        print(line, flush=True)


def _remove(words: Sequence[str]) -> None:
    """Remove each. Raises InputError, before anything is removed, where one is not here."""
    known, gone = everything(), []
    for word in words:
        name, _, version = word.partition("@")
        found = [here for here in known if here.name == name and version in {"", here.version}]
        if not found:
            names = ", ".join(sorted({f"{one.name}@{one.version}" for one in known})) or "none"
            raise InputError(f"agents: {word}: wanted one that is installed, which are {names}")
        gone += found
    for here in gone:
        remove(here)
    _list(gone)


def _install(words: Sequence[str], start: Path) -> None:
    root = root_of(str(start))
    rule = Rulebook(Path(root) if root else None).load("agents")
    asked = [_row(rule, word) for word in words]
    for name, row in asked:
        print(f"{name}@{row['version']}  {install(name, rule, row)}", flush=True)


def _row(rule: Mapping[str, Any], word: str) -> tuple[str, Mapping[str, Any]]:
    name, _, version = word.partition("@")
    row = rule["agents"].get(name)
    if row is None:
        raise InputError(f"agents: {name}: {suggest(name, list(rule['agents']), 'rules/agents.yaml has')}")
    if version and version != row["version"] and "pins" in row:
        wanted = f"version {row['version']}, for which rules/agents.yaml pins what it needs"
        raise InputError(f"agents: {name}: wanted {wanted}, got {version}; write a row for it into the project's rules")
    if version in {"", row["version"]}:
        return name, row
    packages = [{part: said for part, said in package.items() if part != "sha512"} for package in row["npm"]]
    return name, {**row, "version": version, "npm": packages}
