"""From a finished build to the tree that is shown: which files, which program, compilers that add a flavour's flags.

In: folders that untrusted builds wrote (every process of theirs is gone) and entries. Links are never followed out.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sandboxes.elf import find_library, needs_of
from programsmith.toolchains.model import Common, Flavour, Toolchain
from programsmith.toolchains.recipe import BuildRefusedError

ELF = b"\x7fELF"


def inside(root: Path, relative: str) -> Path | None:
    """The regular file at `relative` below `root`, None where there is none or a link leads elsewhere."""
    real, base = os.path.realpath(root / relative), os.path.realpath(root)
    return Path(real) if real.startswith(base + "/") and os.path.isfile(real) else None


def is_elf(file: Path) -> bool:
    """Whether a file is an ELF file."""
    with file.open("rb") as content:
        return content.read(4) == ELF


def find_program(prefix: Path, tool: str) -> str:
    """The path below `prefix` of an executable named `tool`, in bin/ first; empty where none was installed."""
    found = []
    for folder, _, files in os.walk(prefix):
        path = os.path.relpath(os.path.join(folder, tool), prefix)
        if tool in files and (file := inside(prefix, path)) and os.access(file, os.X_OK):
            found.append(path)
    return min(found, key=lambda path: (not path.startswith("bin/"), path), default="")


def prune(entries: Iterable[FileEntry], common: Common, keep: str) -> tuple[FileEntry, ...]:
    """Entries without the folders and suffixes that no run needs; `keep` stays whatever it is called."""
    return tuple(sorted(e for e in entries if os.fsdecode(e.path) == keep or not _dropped(e, common)))


def _dropped(entry: FileEntry, common: Common) -> bool:
    path = os.fsdecode(entry.path)
    if path.endswith(common.drop_suffixes):
        return True
    return any(f"/{path}/".find(f"/{folder}/") in {0, len("/elsewhere")} for folder in common.drop)


def wrapper_flags(toolchain: Toolchain, flavour: Flavour, *, bundles: bool) -> str:
    """What wrapped compilers add to their arguments, quoted for a shell."""
    known = [flag for flag in toolchain.where_known.get(flavour, ()) if is_known(toolchain.wrapped[0], flag)]
    return shlex.join([*toolchain.flavours[flavour], *known, *(toolchain.bundle_flags if bundles else ())])


@cache
def is_known(compiler: str, flag: str) -> bool:
    """Whether the host's compiler takes a flag."""
    words = [compiler, flag, "-E", "-x", "c", os.devnull, "-o", os.devnull]
    found = shutil.which(compiler)
    return found is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0


def wrappers(toolchain: Toolchain, flags: str) -> list[FileEntry]:
    """Compilers of the same names that add `flags`; none where there are none."""
    if not flags:
        return []
    return [
        FileEntry(name.encode(), "file", 0o755, f'#!/bin/sh\nexec /usr/bin/{name} "$@" {flags}\n'.encode())
        for name in toolchain.wrapped
    ]


def bundled(program: bytes, shown: Iterable[str]) -> tuple[FileEntry, ...]:
    """Shared libraries that a program needs and no view shows, from the host, below lib/.

    `shown` are names of libraries that every view has. Raises BuildRefusedError where one is nowhere to be found.
    """
    have, queue = set(shown), [program]
    found: dict[str, FileEntry] = {}
    while queue:
        needs = needs_of(queue.pop())
        for name in needs.libraries if needs else ():
            if name in have:
                continue
            have.add(name)
            path = find_library(name, needs, "/") if needs else None
            if not path:
                raise BuildRefusedError(Word.UNBUILDABLE, f"the program needs {name}, which this host has not")
            found[name] = FileEntry(b"lib/" + os.fsencode(name), "file", 0o644, Path(path).read_bytes())
            queue.append(found[name].content)
    return tuple(found.values())
