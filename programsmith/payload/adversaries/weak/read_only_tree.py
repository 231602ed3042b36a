"""A case may write into the submission's own built tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from programsmith.payload.adversaries.weak.place import let_write
from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import grade
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.model import FileEntry


def _open_tree(former: Callable[..., None], root: str, entries: Iterable[FileEntry]) -> None:
    former(root, entries)
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o777)  # noqa: S103 - the weakness itself


def remove() -> None:
    """Bind the tree writable."""
    swap(grade, "write_tree", _open_tree)
    let_write(SUBMISSION)
