"""A case may start a program of the verifier's image that does what the tool does: a system twin."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable

from programsmith.payload.adversaries.weak.place import argument, shown
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import GradedCase


def _with_twin(former: Callable[..., Request], bench: cases.Bench, graded: GradedCase) -> Request:
    request = former(bench, graded)
    twin = Mount(source=os.path.join(argument("--tests"), "twin"), target=shown("twin"))
    return dataclasses.replace(request, mounts=(*request.mounts, twin))


def remove() -> None:
    """Show the twin and let it be started."""
    swap(cases.Bench, "request", _with_twin)
