"""The installed tree of a Java program: classes and resources in lib/, jars in vendor/, a starter in bin/.

In: the source's entries after its build, which leaves classes in a folder of their own, and the fetched jars. Out:
entries. Nothing of it is run here. Refuses (BuildRefusedError) a main class that was not made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import programsmith.payload.build as frames
import programsmith.payload.entry as templates
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect_java import ROOT, main_sources
from programsmith.toolchains.java_manifest import Pom
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest, places

CLASSES = b".programsmith/classes/"
RESOURCES = b"src/main/resources/"
STARTER = "ProgramSmithStart"
_PROPERTY = re.compile(rb"\$\{([\w.-]+)\}")


def java_tree(
    entries: Sequence[FileEntry], request: BuildRequest, vendor: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Entries of the tree that is shown at the prefix. Raises BuildRefusedError."""
    entry = request.entry
    lib = {e.path: e for e in (*_resources(entries), *_classes(entries))}
    main = b"lib/" + entry.target.replace(".", "/").encode() + b".class"
    if main not in lib:
        raise BuildRefusedError(Word.UNBUILDABLE, f"the build makes no class {entry.target!r} ({entry.how})")
    jars = [e for e in vendor if e.path.startswith(b"vendor/")]
    tool, prefix = os.fsencode(entry.tool), places(request.flavour).prefix
    starter = FileEntry(b"bin/" + tool, "file", 0o755, _template("java.txt", {"arguments": f"{prefix}/lib/.java"}))
    words = {"prefix": prefix, "main_class": entry.target, "starter": STARTER}
    arguments = FileEntry(b"lib/.java", "file", 0o644, _template("java_arguments.txt", words))
    return tuple(sorted([*lib.values(), *jars, starter, arguments]))


def java_build_files(vendor: Iterable[FileEntry], _source: str) -> tuple[FileEntry, ...]:
    """What a build finds in the workspace besides the source: jars, the script that compiles, the starter's source."""
    jars = [FileEntry(b"jars/" + e.path.partition(b"/")[2], "file", 0o644, e.content) for e in vendor]
    script = (Path(frames.__file__).parent / "java.sh").read_bytes()
    start = (Path(templates.__file__).parent / f"{STARTER}.java").read_bytes()
    return (
        *jars,
        FileEntry(b"jars", "dir", 0o755),
        FileEntry(b"tools/java.sh", "file", 0o755, script),
        FileEntry(f"tools/{STARTER}.java".encode(), "file", 0o644, start),
    )


def _template(name: str, words: dict[str, str]) -> bytes:
    text = (Path(templates.__file__).parent / name).read_text("utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text.encode("utf-8")


def _classes(entries: Iterable[FileEntry]) -> Iterator[FileEntry]:
    for e in entries:
        if e.path.startswith(CLASSES) and e.kind == "file":
            yield FileEntry(b"lib/" + e.path.removeprefix(CLASSES), "file", 0o644, e.content)


def _resources(entries: Sequence[FileEntry]) -> Iterator[FileEntry]:
    """What the class path holds besides classes: src/main/resources, filtered where the pom says so.

    In a plain tree it is what lies beside the sources.
    """
    tree = SourceTree(e for e in entries if e.kind == "file" and not e.path.startswith(CLASSES))
    pom = Pom(tree)
    filtering = "true" in pom.texts("filtering")
    known = {k.encode(): v.encode() for k, v in pom.properties.items()}
    sources = main_sources(tree)
    folders = (RESOURCES, ROOT) if any(e.path.startswith(ROOT) for e in sources) else _beside(sources)
    for e in tree.files():
        folder = next((f for f in folders if e.path.startswith(f)), None)
        if folder is None or e.path.endswith(b".java"):
            continue
        text = (
            _PROPERTY.sub(lambda m: known.get(m[1], m[0]), e.content)
            if filtering and folder == RESOURCES
            else e.content
        )
        yield FileEntry(b"lib/" + e.path.removeprefix(folder), "file", 0o644, text)


def _beside(sources: Iterable[FileEntry]) -> tuple[bytes, ...]:
    """The folder that packages of a plain tree begin in, where it is not the root of the repository."""
    found = {e.path.partition(b"/")[0] + b"/" for e in sources if b"/" in e.path}
    return tuple(sorted(found)) if found and found <= {b"src/", b"java/"} else ()
