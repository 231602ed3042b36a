"""The build stage sees the verifier's tests folder at /tests, as where agent and verifier share a container."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from programsmith.payload.adversaries.weak.place import argument, open_tests
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade
from programsmith.payload.verifier.build_step import Built
from programsmith.payload.verifier.launcher import Launcher, Mount, Request, Result
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy


class _Wide:
    """The build stage's launcher with a wider view."""

    name = "wide"

    def __init__(self, inner: Launcher) -> None:
        self._inner = inner

    def run(self, request: Request) -> Result:
        tests = Mount(source=argument("--tests"), target="/tests")
        return self._inner.run(dataclasses.replace(request, mounts=(*request.mounts, tests)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _shared(former: Callable[..., Built], files: Iterable[FileEntry], policy: Policy, launcher: Launcher) -> Built:
    return former(files, policy, _Wide(launcher))


def remove() -> None:
    """Show the tests while building."""
    open_tests()
    swap(grade, "build", _shared)
