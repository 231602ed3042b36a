"""Where the weakened verifier keeps its tests and shows what it should not; the same in a view and in a container.

A container's root is closed to everybody, so what lies at /NAME in a view lies below /tmp there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import uid
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.wire import Bind, Right

_Rule = tuple[int, str]


def argument(name: str) -> str:
    """The word that follows `name` on the verifier's command line."""
    return sys.argv[sys.argv.index(name) + 1]


def is_contained() -> bool:
    """Whether launches are told apart by their users, in one container."""
    with open(argument("--launcher"), "rb") as source:
        return bool(json.load(source)["kind"] == uid.UidLauncher.name)


def shown(name: str) -> str:
    """Where cases find the folder `name`."""
    return f"/tmp/{name}" if is_contained() else f"/{name}"  # noqa: S108 - a path inside


def open_tests() -> None:
    """Let whoever is shown the tests folder enter it, where it is the container's own."""
    if is_contained():
        os.chmod(argument("--tests"), 0o755)  # noqa: S103 - the weakness itself


def _elsewhere(former: Callable[..., None], launcher: uid.UidLauncher, config: dict[str, Any]) -> None:
    places = config["places"]
    if SUBMISSION not in places[0]:
        places = [{at: f"/tmp/roomy{n}{at}" for at in one} for n, one in enumerate(places)]  # noqa: S108 - inside
        for place in (place for one in places for place in one.values()):
            os.makedirs(place, exist_ok=True)
    former(launcher, {**config, "places": places})


def move_places() -> None:
    """Let cases in a container have their places on its disk, not in file systems that are bounded and hold no code."""
    swap(uid.UidLauncher, "__init__", _elsewhere)


def let_write(target: str) -> None:
    """Let every case write below what is mounted at `target`."""

    def binds(former: Callable[..., list[Bind]], *given: Any) -> list[Bind]:
        return [bind._replace(writable=bind.writable or bind.target == target) for bind in former(*given)]

    def copied(former: Callable[..., None], source: str, at: str, *how: Any) -> None:
        former(source, at, *how)
        for folder, _, _ in os.walk(at if at == target else ""):
            os.chmod(folder, 0o777)  # noqa: S103 - the weakness itself

    def rules(former: Callable[..., tuple[_Rule, ...]], *given: Any, **named: Any) -> tuple[_Rule, ...]:
        return (*former(*given, **named), (int(Right.READ | Right.WRITE), target))

    swap(IsolatedLauncher, "_binds", binds)
    if is_contained():
        swap(uid, "_copy", copied)
        swap(uid.UidLauncher, "_rules", rules)
