"""Canaries: one file in each marked folder, each with its own value, and no value anywhere else.

So text that turns up elsewhere with a value tells which folder it came from; and no case data or upstream
documentation is altered by one. A file of upstream's that has the name and holds no value is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from programsmith.bundle.render import CANARIES
from programsmith.checks.base import Row, Scene, first

NAME = "CANARY"
VALUE = re.compile(rb"programsmith-canary ([0-9a-f]{32})")


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare the canaries that are there with those that must be."""
    wanted = {folder + NAME for folder in CANARIES}
    named = {path for path in scene.files if path.rpartition("/")[2] == NAME}
    there = {path for path in named if path in wanted or VALUE.search(scene.content(path))}
    values = {p: VALUE.findall(scene.files[p].content) for p in wanted & there}
    found = [f"{path} is missing" for path in sorted(wanted - there)]
    found += [f"{path} has no business there" for path in sorted(there - wanted)]
    found += [f"{path} must hold one value, holds {len(v)}" for path, v in sorted(values.items()) if len(v) != 1]
    every = [v[0] for v in values.values() if len(v) == 1]
    if len(set(every)) != len(every):
        found.append("two folders share a value")
    found += [f"{path} repeats a value" for path in sorted(_repeats(scene, set(every), wanted))]
    return Row(
        passed=not found,
        reason=first(found, f"{len(every)} canaries, each once", "canary"),
        evidence={"canaries": sorted(there), "faults": found},
    )


def _repeats(scene: Scene, values: set[bytes], own: set[str]) -> set[str]:
    return {
        path for path in scene.files if path not in own and any(v in text for text in scene.texts(path) for v in values)
    }
