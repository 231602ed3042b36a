"""What of a language that an interpreter reads is its own: how its tree is laid, what its build finds, what starts it.

In: a language's name. Out: its functions. One row per language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from programsmith.payload.verifier.model import FileEntry
from programsmith.toolchains.java_tree import java_build_files, java_tree
from programsmith.toolchains.javascript_tree import javascript_build_files, javascript_tree
from programsmith.toolchains.python_tree import python_tree
from programsmith.toolchains.recipe import BuildRequest

Tree = Callable[[Sequence[FileEntry], BuildRequest, Iterable[FileEntry]], tuple[FileEntry, ...]]
TREES: dict[str, Tree] = {"java": java_tree, "javascript": javascript_tree, "python": python_tree}
BUILD_FILES: dict[str, Callable[[Iterable[FileEntry], str], tuple[FileEntry, ...]]] = {
    "java": java_build_files,
    "javascript": javascript_build_files,
}


def interpreted_tree(
    entries: Sequence[FileEntry], request: BuildRequest, vendor: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Entries of the tree that is shown at the prefix, from the source after its build. Raises BuildRefusedError."""
    return TREES[request.toolchain.language](entries, request, vendor)


def build_files(request: BuildRequest, vendor: Iterable[FileEntry], source: str) -> tuple[FileEntry, ...]:
    """What a build finds in its workspace besides the source, which lies in the workspace's folder `source`."""
    found = BUILD_FILES.get(request.toolchain.language)
    return found(vendor, source) if found else ()
