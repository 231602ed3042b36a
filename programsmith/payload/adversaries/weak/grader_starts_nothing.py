"""Outputs are compared by a program that is looked for where submitted files lie."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Collection
from typing import Any

from programsmith.payload.adversaries.weak.place import argument
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade, words
from programsmith.payload.verifier.cases import Subject
from programsmith.payload.verifier.compare import Comparator
from programsmith.payload.verifier.model import FileEntry

_places: list[str] = []


def _noted(former: Callable[..., Subject], tree: Collection[FileEntry], folder: str, *given: Any) -> Subject:
    _places[:] = [folder, argument("--submission"), "/usr/bin", "/bin"]
    return former(tree, folder, *given)


def _by_program(_former: Any, _text: str) -> Comparator:
    return _equal


def _equal(expected: bytes, got: bytes) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("expected", "got")]
        for name, content in zip(names, (expected, got), strict=True):
            with open(name, "wb") as file:
                file.write(content)
        done = subprocess.run(["cmp", "-s", *names], check=False, env={"PATH": ":".join(_places)})
    return done.returncode == 0


def remove() -> None:
    """Compare by what is called cmp."""
    swap(grade, "subject", _noted)
    swap(words, "comparator", _by_program)
