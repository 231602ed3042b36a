"""More is received, and more of it unpacked, than the policy says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import __main__ as command
from programsmith.payload.verifier.grade import Tests
from programsmith.payload.verifier.plan import ReceiptRule

_AMPLE = ReceiptRule(files=10_000, bytes=1 << 28, depth=256)


def _ample(former: Callable[..., Tests], *given: Any) -> Tests:
    tests = former(*given)
    return dataclasses.replace(tests, policy=dataclasses.replace(tests.policy, submission=_AMPLE))


def remove() -> None:
    """Bound no submission."""
    swap(command, "read_tests", _ample)
