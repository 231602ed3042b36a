"""Whoever runs Harbor tasks can run this one: no part of it needs what only some runners have.

One step, no sidecar but the one that answers where agents may ask, no user that the runner has to set for the verifier,
images of both containers or of none, no file that makes a runner or a builder leave something out, paths that every
archive carries, a script that starts under any shell and names only what lies beside it, programs that runners call, a
submission small enough to be carried.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.bundle.answers import is_compose
from programsmith.bundle.tree import COMPOSE, IGNORING, SIDECAR, is_plain
from programsmith.checks.base import Row, Scene, first
from programsmith.payload.verifier.plan import decode_policy

STEPS = "steps/"
PACKAGES = re.compile(rb'^ARG PACKAGES="([^"]*)"$', re.MULTILINE)
SCRIPT, SCRIPT_FOLDER = "tests/test.sh", "tests/"
NAMED = re.compile(rb"(?<![\w/])/tests/([\w./-]+)")
SIDES = {"agent": "environment", "verifier": "tests"}
ALONE = ("steps", "multi_step_reward_strategy")
"""Keys of a task of several steps."""


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Look at task.toml, paths, the script, packages and sizes."""
    looks = (_task(scene), _paths(scene), _script(scene), _programs(scene, parameters), _sizes(scene, parameters))
    found = [fault for look in looks for fault in look]
    return Row(
        passed=not found,
        reason=first(found, "nothing that only some runners have", "consumer"),
        evidence={"faults": found, **parameters},
    )


def _task(scene: Scene) -> Iterator[str]:
    """What some runners refuse or read in another way. A file that is no TOML is told by harbor_validity."""
    try:
        task = tomllib.loads(scene.content("task.toml").decode("utf-8"))
    except ValueError:
        return
    verifier = task.get("verifier", {})
    yield from (f"task.toml: {key}: wanted a task of one step" for key in ALONE if key in task)
    if "user" in verifier:
        yield "task.toml: verifier.user: wanted the image's own user, which every runner takes"
    if verifier.get("environment_mode") != "separate":
        yield "task.toml: verifier.environment_mode: wanted separate: a verifier never scores in an agent's container"
    given = ["docker_image" in place for place in (task.get("environment", {}), verifier.get("environment", {}))]
    if any(given) and not all(given):
        yield "task.toml: docker_image: wanted one for both containers or for none, got one"


def _paths(scene: Scene) -> Iterator[str]:
    for path in sorted(scene.files):
        if path == COMPOSE and scene.asked:
            if not is_compose(scene.content(path)):
                yield f"{path}: wanted the container that answers queries beside the agent's, got something else"
        elif SIDECAR.search(path) or path.startswith(STEPS):
            yield f"{path}: wanted one container and one step, got a file of more"
        if path.rpartition("/")[2] in IGNORING:
            yield f"{path}: wanted nothing that leaves files out, got one that may"
        if not is_plain(path.encode()):
            yield f"{path!r}: wanted a path that every archive carries"


def _script(scene: Scene) -> Iterator[str]:
    """The script is started as a program or by bash, and all that it names was staged with it."""
    text = scene.content(SCRIPT)
    if not text.startswith(b"#!/bin/sh\n") or b"\r" in text:
        yield f"{SCRIPT}: wanted a script for any shell, with plain line ends"
    for name in NAMED.findall(text):
        path = SCRIPT_FOLDER + name.decode("ascii")
        if path not in scene.files:
            yield f"{SCRIPT}: names /{path}, which does not lie beside it"


def _programs(scene: Scene, parameters: Mapping[str, Any]) -> Iterator[str]:
    for who, side in SIDES.items():
        there = PACKAGES.findall(scene.content(f"{side}/Dockerfile"))
        names = {name.decode("ascii", "replace") for line in there for name in line.split()}
        yield from (f"{side}/Dockerfile: wanted the package {p}, got none" for p in parameters[who] if p not in names)


def _sizes(scene: Scene, parameters: Mapping[str, Any]) -> Iterator[str]:
    most, got = parameters["artifact_bytes"], decode_policy(scene.content("tests/policy.json")).submission.bytes
    if not 0 < got <= most:
        yield f"tests/policy.json: submission.bytes: wanted at most {most}, which runners carry, got {got}"
