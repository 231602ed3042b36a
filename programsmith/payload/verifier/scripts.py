"""What of a built tree is started by name where a task's programs are scripts, and how.

In: the tree of a language that an interpreter reads. Out: the paths that may be executed, and how the executable
starts. A text that names its interpreter is one; text, since almost no code is. An executable that is none (an archive
behind a first line, say) is read by its interpreter all the same, which the grader names in the kernel's place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable

from programsmith.payload.verifier.cases import Subject
from programsmith.payload.verifier.environment import EXECUTABLE, SUBMISSION
from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import Policy

_MARK = b"#!"
_FIRST_LINE = 255  # bytes that the kernel looks at
_CODE_MAKERS = frozenset({"java"})  # their machine compiles what it runs, and takes memory for that as it starts
MOST = 256  # scripts that are executed by their name, for each costs every launch a mount
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def subject(tree: Collection[FileEntry], folder: str, policy: Policy) -> Subject:
    """The built tree, which lies in `folder`, as what is run; where the languages are not compiled, as scripts."""
    place = f"{SUBMISSION}/{EXECUTABLE}"
    if policy.compiled:
        return Subject(program=place, mounts=(Mount(source=folder, target=SUBMISSION),))
    found, words = scripts(tree), start(tree)
    shown = Mount(source=folder, target=SUBMISSION, scripts=found, makes_code=makes_code(policy))
    return Subject(program=os.fsdecode(words[0]) if words else place, mounts=(shown,), words=words)


def makes_code(policy: Policy) -> bool:
    """Whether what runs the task's programs makes machine code itself, so that it cannot be kept from making it."""
    return not _CODE_MAKERS.isdisjoint(policy.languages)


def scripts(tree: Iterable[FileEntry]) -> tuple[str, ...]:
    """Absolute paths inside of the files that are executed by their name: those nearest to the top, at most MOST."""
    found = sorted((e.path.count(b"/"), e.path) for e in tree if _is_script(e))
    return tuple(f"{SUBMISSION}/{os.fsdecode(path)}" for _, path in found[:MOST])


def start(tree: Iterable[FileEntry]) -> tuple[bytes, ...] | None:
    """The words by which the tree's executable is started, an interpreter first; None where its name alone does."""
    found = next((e for e in tree if e.path == EXECUTABLE.encode()), None)
    if found is None or _is_script(found) or not found.content.startswith(_MARK):
        return None
    line = found.content[len(_MARK) : _FIRST_LINE].partition(b"\n")[0].strip(b" \t")
    if not line or b"\0" in line:  # no kernel starts it either
        return None
    return (*line.split(None, 1), f"{SUBMISSION}/{EXECUTABLE}".encode())


def _is_script(entry: FileEntry) -> bool:
    if entry.kind != "file" or not entry.mode & 0o111 or not entry.content.startswith(_MARK):
        return False
    try:
        entry.content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not _NO_TEXT.search(entry.content)
