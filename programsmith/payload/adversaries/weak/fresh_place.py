"""All cases share one folder that they can write, /shared; it lies on the host and stays."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.place import argument
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import GradedCase
from programsmith.payload.verifier.wire import Bind

SHARED = "/shared"


def _with_shared(former: Callable[..., Request], bench: cases.Bench, graded: GradedCase) -> Request:
    request = former(bench, graded)
    folder = os.path.join(argument("--tests"), "shared")
    return dataclasses.replace(request, mounts=(*request.mounts, Mount(source=folder, target=SHARED)))


def _writable(former: Callable[..., list[Bind]], *given: Any) -> list[Bind]:
    return [bind._replace(writable=bind.writable or bind.target == SHARED) for bind in former(*given)]


def remove() -> None:
    """Bind one folder into every case."""
    folder = os.path.join(argument("--tests"), "shared")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)  # noqa: S103 - the weakness itself
    swap(cases.Bench, "request", _with_shared)
    swap(IsolatedLauncher, "_binds", _writable)
