"""A tree of scripts is like any other: what is in it runs, and so does what a script has in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade
from programsmith.payload.verifier.cases import Subject


def _any_code(former: Callable[..., Subject], *given: Any) -> Subject:
    subject = former(*given)
    return dataclasses.replace(subject, mounts=tuple(dataclasses.replace(m, scripts=None) for m in subject.mounts))


def remove() -> None:
    """Let scripts make code."""
    swap(grade, "subject", _any_code)
