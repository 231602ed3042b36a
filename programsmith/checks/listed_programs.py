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


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Compare the lists of both places with the policy; `runs` are by language the programs that its cases start."""
    carried, runs = json.loads(scene.content(CARRIED) or b"{}"), parameters["runs"]
    found = [f"{CARRIED}: {fault}" for fault in (*_programs(scene, carried, runs), *_users(scene, carried))]
    found += [f"r/environments.json: {fault}" for fault in _programs(scene, scene.views, runs)]
    return Row(
        passed=not found,
        reason=first(found, "a case starts what the policy lists", "programs"),
        evidence={"faults": found},
    )


def _programs(scene: Scene, environment: Mapping[str, Any], runs: Mapping[str, list[str]]) -> Iterator[str]:
    """Only behind the waived wrapper of another language does a case start what the original's programs start."""
    own, origin = scene.sides.policy.run_programs, scene.lock.language
    yield from _unlisted(scene, "run.view", environment.get("run", {}).get("view", {}), own)
    if origin != scene.manifest.target_language:
        yield from _unlisted(scene, "original", environment.get("original", {}), (*own, *runs.get(origin, ())))
    elif "original" in environment:
        yield "original: wanted none where the original is of the task's language"


def _unlisted(scene: Scene, name: str, view: Mapping[str, Any], programs: Iterable[str]) -> Iterator[str]:
    seen = (p for path in scene.manifest.exec_allowed for p in (path, os.path.realpath(path)))
    names = [re.escape(os.path.basename(p)) for p in seen]
    listed = re.compile("|".join([*names, *(re.escape(p) + VERSION for p in programs), LOADER.pattern]))
    listing = view.get("executables")
    if not isinstance(listing, list):
        yield f"{name}.executables: wanted a list, got none"
        return
    for path in listing:
        if not listed.fullmatch(os.path.basename(path)):
            yield f"{name}.executables: wanted programs of the policy, got {path}"


def _users(scene: Scene, environment: Mapping[str, Any]) -> Iterator[str]:
    slots, stages = scene.sides.plan.slots, {name: environment.get(name, {}) for name in ("run", "build")}
    places = {name: len(stage.get("places", ())) for name, stage in stages.items()}
    if places != {"run": slots, "build": 1}:
        yield f"places: wanted one for each of {slots} slots and one for a build, got {places}"
    first_user, builder = (stages[name].get("uid", 0) for name in ("run", "build"))
    if first_user < FIRST_USER or builder in range(first_user + slots) or builder < FIRST_USER:
        yield f"uid: wanted users of their own, got {first_user} for {slots} slots and {builder} for a build"
