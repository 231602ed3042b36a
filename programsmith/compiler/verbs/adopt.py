"""The verb `adopt`: submissions by which a model's adversary scored become scripted adversaries of the project.

In: specs; the hacks that the probes of their builds kept, below cache/. Out: rules/hacks.yaml of the project with those
that it did not have, and a line for each. Every later probe of a task in the same language hands them in again. Nothing
of them is run here. Refuses (InputError) a kept file that was altered.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from programsmith.adversaries.hacks import RULE, entry_of, hacks
from programsmith.compiler.loader import asked_specs
from programsmith.compiler.paths import Folder, part
from programsmith.errors import Exit, InputError
from programsmith.rulebook.load import Rulebook, packaged_rules

FILE = f"{RULE}.yaml"
KEPT = "r*/hacks.json"
WIDTH = 120


class _Readable(yaml.SafeDumper):
    """YAML in which a text of several lines stands as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _text)


def adopt(words: Sequence[str], start: Path) -> Exit:
    """Take in what the builds of the named specs kept. Raises InputError."""
    asked = asked_specs(words, start)
    project = asked.project
    known = {entry["id"]: entry for entry in Rulebook(project.root).load(RULE)[RULE]}
    fresh = {
        entry["id"]: entry
        for path in asked.files
        for entry in _kept(project.folder(path.stem))
        if entry["id"] not in known
    }
    if not fresh:
        print("nothing to adopt: no kept submission that rules/hacks.yaml does not have", file=sys.stderr)
        return Exit.OK
    place = project.root / "rules" / FILE
    place.parent.mkdir(exist_ok=True)
    made = part(place)
    made.write_text(_page([*known.values(), *fresh.values()]), encoding="utf-8")
    os.replace(made, place)
    for entry in fresh.values():
        print(f"{entry['id']}  {entry['tool']}  {entry['agent']}  {entry['model']}  {len(entry['files'])} files")
    return Exit.OK


def _kept(folder: Folder) -> Iterator[dict[str, Any]]:
    """Entries that the probes of a spec's revisions kept. Raises InputError."""
    for path in sorted(folder.root.glob(KEPT)):
        try:
            found = hacks(json.loads(path.read_bytes())[RULE])
        except (OSError, ValueError, KeyError, TypeError) as fault:
            raise InputError(f"{path}: wanted what a probe keeps, got a fault: {fault}; build the spec again") from None
        yield from map(entry_of, found)


def _page(entries: Sequence[Mapping[str, Any]]) -> str:
    """The rule file: the packaged one's words, then the entries."""
    lines = (packaged_rules() / FILE).read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    body = yaml.dump({RULE: list(entries)}, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=WIDTH)
    return "\n".join([*head, body])
