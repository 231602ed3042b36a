"""What a case may start is a list, and the list is the policy's: the interpreter, what the original was seen to start.

Looked at is every place that could grade: this host's view, and the one that the bundle brings for a container. A
container gives each slot a user and places of its own, none of them root's.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from programsmith.checks.base import Row, Scene, first

CARRIED = "tests/environment.json"
LOADER = re.compile(r"ld-(?:linux|musl)[\w.-]*\.so(?:\.\d+)?")
VERSION = r"[0-9.]*"
FIRST_USER = 1000


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare both lists with the policy."""
    carried = json.loads(scene.content(CARRIED) or b"{}")
    found = [f"{CARRIED}: {fault}" for fault in (*_programs(scene, carried), *_users(scene, carried))]
    found += [f"r/environments.json: {fault}" for fault in _programs(scene, scene.views)]
    return Row(
        passed=not found,
        reason=first(found, "a case starts what the policy lists", "programs"),
        evidence={"faults": found},
    )


def _programs(scene: Scene, environment: Mapping[str, Any]) -> Iterator[str]:
    policy, seen = scene.sides.policy, scene.manifest.exec_allowed
    names = [re.escape(os.path.basename(p)) for path in seen for p in (path, os.path.realpath(path))]
    listed = re.compile("|".join([*names, *(re.escape(p) + VERSION for p in policy.run_programs), LOADER.pattern]))
    listing = environment.get("run", {}).get("view", {}).get("executables")
    if not isinstance(listing, list):
        yield "run.view.executables: wanted a list, got none"
        return
    yield from _unlisted(listing, listed)


def _unlisted(listing: Iterable[str], listed: re.Pattern[str]) -> Iterator[str]:
    for path in listing:
        if not listed.fullmatch(os.path.basename(path)):
            yield f"run.view.executables: wanted programs of the policy, got {path}"


def _users(scene: Scene, environment: Mapping[str, Any]) -> Iterator[str]:
    slots, stages = scene.sides.plan.slots, {name: environment.get(name, {}) for name in ("run", "build")}
    places = {name: len(stage.get("places", ())) for name, stage in stages.items()}
    if places != {"run": slots, "build": 1}:
        yield f"places: wanted one for each of {slots} slots and one for a build, got {places}"
    first_user, builder = (stages[name].get("uid", 0) for name in ("run", "build"))
    if first_user < FIRST_USER or builder in range(first_user + slots) or builder < FIRST_USER:
        yield f"uid: wanted users of their own, got {first_user} for {slots} slots and {builder} for a build"
