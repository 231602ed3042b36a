"""The installed tree of a JavaScript program: its package in lib/, its dependencies in vendor/, a starter in bin/.

In: the source's entries (after its build) and the fetched packages. Out: entries, as the package client would lay them:
lib/node_modules leads to the dependencies, lib/.bin/<tool> to the command. Nothing of it is run here. Refuses
(BuildRefusedError) an entry point that neither the source nor its build holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import programsmith.payload.build as frames
import programsmith.payload.entry as templates
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.toolchains.recipe import WORKSPACE, BuildRefusedError, BuildRequest

CLIENTS = ("npm", "yarn", "pnpm")  # a build calls its package's scripts by them
MODULES = b"node_modules"


def javascript_tree(
    entries: Sequence[FileEntry], request: BuildRequest, vendor: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Entries of the tree that is shown at the prefix. Raises BuildRefusedError."""
    entry, target = request.entry, os.fsencode(request.entry.target)
    if not any(e.path == target and e.kind == "file" for e in entries):
        raise BuildRefusedError(
            Word.UNBUILDABLE, f"neither the source nor its build has {entry.target!r} ({entry.how})"
        )
    lib = [FileEntry(b"lib/" + e.path, e.kind, e.mode, e.content) for e in entries if _belongs(e, request.system.leave)]
    if not any(e.path == b"lib/" + target for e in lib):
        raise BuildRefusedError(Word.UNBUILDABLE, f"{entry.target!r} lies in a folder that no installation keeps")
    needed = [e for e in vendor if e.path.startswith(b"vendor/")]
    links = [FileEntry(b"lib/.bin/" + os.fsencode(entry.tool), "link", 0o777, b"../" + target)]
    if needed:
        links.append(FileEntry(b"lib/" + MODULES, "link", 0o777, b"../vendor/" + MODULES))
    starter = FileEntry(b"bin/" + os.fsencode(entry.tool), "file", 0o755, javascript_starter(request))
    return tuple(sorted([*lib, *needed, *links, starter]))


def javascript_starter(request: BuildRequest) -> bytes:
    """The program in bin/."""
    text = (Path(templates.__file__).parent / "node.js").read_text("utf-8")
    return text.replace("tool_name", request.entry.tool).encode("utf-8")


def javascript_build_files(vendor: Iterable[FileEntry], source: str) -> tuple[FileEntry, ...]:
    """What a build finds in the workspace besides the source, which lies in its folder `source`.

    Packages, a link to them where scripts look for them, and the clients' names for running a package's scripts.
    """
    modules = [FileEntry(e.path.partition(b"/")[2], e.kind, e.mode, e.content) for e in vendor]
    if modules:
        link = os.fsencode(os.path.join(source, "node_modules"))
        modules.append(FileEntry(link, "link", 0o777, os.fsencode(f"{WORKSPACE}/") + MODULES))
    runner = (Path(frames.__file__).parent / "package.js").read_bytes()
    tools = [FileEntry(b"tools/package.js", "file", 0o644, runner)]
    for names, what in ((CLIENTS, "run"), (("npx",), "exec")):
        text = f'#!/bin/sh\nexec /usr/bin/node {WORKSPACE}/tools/package.js {what} "$@"\n'.encode()
        tools += [FileEntry(f"tools/{name}".encode(), "file", 0o755, text) for name in names]
    return (*modules, *tools)


def _belongs(entry: FileEntry, leave: Sequence[str]) -> bool:
    parts = os.fsdecode(entry.path).split("/")
    return not (parts[0].startswith(".") or parts[0] in leave or "node_modules" in parts)
