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
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.wire import Bind, Right


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


def let_write(target: str) -> None:
    """Let every case write below what is mounted at `target`."""

    def binds(former: Callable[..., list[Bind]], *given: Any) -> list[Bind]:
        return [bind._replace(writable=bind.writable or bind.target == target) for bind in former(*given)]

    def copied(former: Callable[[str, str], None], source: str, at: str) -> None:
        former(source, at)
        for folder, _, _ in os.walk(at if at == target else ""):
            os.chmod(folder, 0o777)  # noqa: S103 - the weakness itself

    def rules(former: Callable[..., list[tuple[int, str]]], *given: Any, **named: Any) -> list[tuple[int, str]]:
        return [*former(*given, **named), (int(Right.READ | Right.WRITE), target)]

    swap(IsolatedLauncher, "_binds", binds)
    if is_contained():
        swap(uid, "_copy", copied)
        swap(uid.UidLauncher, "_rules", rules)
