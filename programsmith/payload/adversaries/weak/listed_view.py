"""The run stage shows more than its list: the verifier's tests folder lies at /tests."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from programsmith.payload.adversaries.weak.place import argument, open_tests
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import cases
from programsmith.payload.verifier.launcher import Mount, Request
from programsmith.payload.verifier.model import GradedCase


def _wide(former: Callable[..., Request], bench: cases.Bench, graded: GradedCase) -> Request:
    request = former(bench, graded)
    tests = Mount(source=argument("--tests"), target="/tests")
    return dataclasses.replace(request, mounts=(*request.mounts, tests))


def remove() -> None:
    """Show the tests to every case."""
    open_tests()
    swap(cases.Bench, "request", _wide)
