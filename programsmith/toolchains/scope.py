"""What a command consists of in the source, and how much it can do. Read, never run.

In: the locked tree, an entry point, its language. Out: its program files, and counts of their lines, options and
subcommands. A Python command is what its entry point imports; which files of C a program links is not known before it
is built, so all of them count; so do those of JavaScript that a build makes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.detect import NO_PROGRAM
from programsmith.toolchains.detect_javascript import SCRIPT
from programsmith.toolchains.javascript_imports import closure
from programsmith.toolchains.scope_native import go_files, rust_files

IMPORT_ROOTS = ("", "src/", "lib/", "python/")
WORD = rb"[A-Za-z][A-Za-z0-9_-]*"
OPTIONS = (
    re.compile(rb"[\"'](--?" + WORD + rb")=?[\"']"),  # a literal, in any language
    re.compile(rb"\{\s*\"(" + WORD + rb")\"\s*,\s*(?:no_argument|required_argument|optional_argument|[012])\s*,"),
)
LETTERS = re.compile(rb"\bgetopt(?:_long)?(?:_only)?\s*\([^;\"]{0,200}\"[-+:]*([A-Za-z0-9:]+)\"")
SUBCOMMANDS = re.compile(rb"(?:\badd_parser|\.command)\(\s*[\"'](" + WORD + rb")[\"' ]")


@dataclass(frozen=True, slots=True)
class Scope:
    """Files of a program. `code_lines` are non-blank lines; `options` and `subcommands` are names seen in literals."""

    files: tuple[bytes, ...]
    code_lines: int
    options: frozenset[bytes]
    subcommands: frozenset[bytes]


def scope_of(tree: SourceTree, entry: EntryPoint, language: str, suffixes: Sequence[str]) -> Scope:
    """The scope of one command."""
    found = FILES.get(language)
    files = found(tree, entry) if found else None
    files = _all_files(tree, suffixes) if files is None else files
    return Scope(
        files=tuple(f.path for f in files),
        code_lines=sum(1 for f in files for line in f.content.splitlines() if line.strip()),
        options=frozenset(_options(files)),
        subcommands=frozenset(m for f in files for m in SUBCOMMANDS.findall(f.content)),
    )


def _options(files: Iterable[FileEntry]) -> Iterator[bytes]:
    for file in files:
        yield from (name.lstrip(b"-") for pattern in OPTIONS for name in pattern.findall(file.content))
        for letters in LETTERS.findall(file.content):
            yield from (letters[i : i + 1] for i in range(len(letters)) if letters[i : i + 1] != b":")


def _all_files(tree: SourceTree, suffixes: Sequence[str]) -> list[FileEntry]:
    ends = tuple(s.encode() for s in suffixes)
    return [e for e in tree.files() if e.path.endswith(ends) and not NO_PROGRAM.fullmatch(e.path)]


def _python_files(tree: SourceTree, entry: EntryPoint) -> list[FileEntry]:
    """The entry's file and, over and over, the files of the tree that those found import."""
    found: dict[bytes, FileEntry] = {}
    due = list(_entry_files(tree, entry))
    while due:
        file = due.pop()
        if file.path not in found:
            found[file.path] = file
            due += _imported(tree, file)
    return sorted(found.values())


def _javascript_files(tree: SourceTree, entry: EntryPoint) -> list[FileEntry] | None:
    """What the command imports; None where a build makes it, since nobody has said of what."""
    return list(closure(tree, entry.target).files) if entry.kind == SCRIPT else None


def _entry_files(tree: SourceTree, entry: EntryPoint) -> Iterator[FileEntry]:
    if entry.kind == "python-script":
        script = tree.get(entry.target.encode("utf-8", "surrogateescape"))
        yield from [script] if script is not None and script.kind == "file" else []
    else:
        yield from _module(tree, entry.target.partition(":")[0], IMPORT_ROOTS)


def _imported(tree: SourceTree, file: FileEntry) -> Iterator[FileEntry]:
    try:
        parsed = ast.parse(file.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    folder = file.path.rpartition(b"/")[0].decode("utf-8", "surrogateescape")
    beside = f"{folder}/" if folder else ""
    for node in ast.walk(parsed):
        match node:
            case ast.Import(names=names):
                for name in names:
                    yield from _module(tree, name.name, (*IMPORT_ROOTS, beside))
            case ast.ImportFrom(module=module, names=names, level=level):
                roots = (_above(folder, level),) if level else (*IMPORT_ROOTS, beside)
                for name in names:
                    yield from _module(tree, f"{module}.{name.name}" if module else name.name, roots)
            case _:
                pass


def _above(folder: str, level: int) -> str:
    parts = [p for p in folder.split("/") if p]
    kept = parts[: max(0, len(parts) - level + 1)]
    return "".join(f"{p}/" for p in kept)


def _module(tree: SourceTree, name: str, roots: Iterable[str]) -> Iterator[FileEntry]:
    """Files of a dotted module: each package on the way, and the last part where it is a module."""
    parts = name.split(".")
    for root in roots:
        for n in range(1, len(parts) + 1):
            base = root + "/".join(parts[:n])
            for path in (f"{base}.py", f"{base}/__init__.py"):
                file = tree.get(path.encode("utf-8", "surrogateescape"))
                if file is not None and file.kind == "file":
                    yield file


FILES: dict[str, Callable[[SourceTree, EntryPoint], list[FileEntry] | None]] = {
    "javascript": _javascript_files,
    "python": _python_files,
    "go": go_files,
    "rust": rust_files,
}
