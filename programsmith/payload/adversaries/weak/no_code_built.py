"""The build of an interpreted language may leave machine code, which may be executed like a script."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import build_step, scripts
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.magic import begins_with_code
from programsmith.payload.verifier.model import FileEntry


def _none(*_given: Any) -> str | None:
    return None


def _code_too(former: Callable[..., tuple[str, ...]], tree: Iterable[FileEntry]) -> tuple[str, ...]:
    code = (e.path for e in tree if e.kind == "file" and begins_with_code(e.content))
    return (*former(tree), *(f"{SUBMISSION}/{os.fsdecode(path)}" for path in code))


def remove() -> None:
    """Do not look at what a build left."""
    swap(build_step, "_machine_code", _none)
    swap(scripts, "scripts", _code_too)
