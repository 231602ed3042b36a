"""The locked source as a submission: its files, and the compile.sh that turns them into ./executable.

In: a request, the source, the oracle's tree. Out: files of the submission. Where a build compiles, the script does
what the oracle's build did, by the same recipe, at the place where a submission lies; else the oracle's own files go
in, with their dependencies and without bytecode.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import programsmith.payload.build as frames
from programsmith.payload.verifier.environment import COMPILE, SUBMISSION
from programsmith.payload.verifier.model import FileEntry
from programsmith.toolchains.install import wrapper_flags
from programsmith.toolchains.javascript_tree import javascript_starter
from programsmith.toolchains.model import Toolchain
from programsmith.toolchains.python_tree import import_root, starter_text
from programsmith.toolchains.recipe import BuildRequest, Places, Recipe, recipe
from programsmith.toolchains.views import shown_libraries

OWN_PLACES = frozenset({"PATH", "HOME", "TMPDIR", "DESTDIR"})


def source_submission(
    request: BuildRequest, source: Iterable[FileEntry], oracle: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Files of a submission that is the source itself. Raises BuildRefusedError as the build would."""
    entries = [e for e in source if e.path != COMPILE.encode()]
    tree = entries
    if not request.toolchain.compiled:
        tree = [e for e in oracle if e.path.startswith((b"lib/", b"vendor/")) and b"__pycache__" not in e.path]
    files = [e for e in tree if e.kind == "file"]
    text = compile_sh(request, entries).replace(b"# @layout@\n", _layout(tree))
    script = FileEntry(COMPILE.encode(), "file", 0o755, text)
    if request.toolchain.compiled:
        return tuple(sorted([*files, script]))
    starter = STARTERS[request.toolchain.language](request, entries)
    return tuple(sorted([*files, script, FileEntry(b"starter", "file", 0o644, starter)]))


def _python_starter(request: BuildRequest, entries: Sequence[FileEntry]) -> bytes:
    text = starter_text(request.entry, import_root(entries, request.entry))
    own = b"os.path.dirname(os.path.realpath(__file__))"
    return text.replace(b"os.path.dirname(" + own + b")", own)


def _javascript_starter(request: BuildRequest, _entries: Sequence[FileEntry]) -> bytes:
    return javascript_starter(request).replace(b"dirname(dirname(", b"dirname((")


STARTERS = {"javascript": _javascript_starter, "python": _python_starter}  # they lie beside lib/, not below bin/


def is_submittable(toolchain: Toolchain) -> bool:
    """Whether a source of the language is a submission: what its build leaves is text, or is made of text anew."""
    return toolchain.compiled or toolchain.language in STARTERS


def compile_sh(request: BuildRequest, source: Sequence[FileEntry]) -> bytes:
    """The text of compile.sh for a source."""
    has = [os.fsdecode(e.path) for e in source if b"/" not in e.path]
    where = Places(source=SUBMISSION, stage="", prefix=f"{SUBMISSION}/installed")
    made = recipe(request, has, where)
    if not request.toolchain.compiled:
        return _frame("script.sh")
    frame = _frame("c.sh" if request.toolchain.wrapped else "compiled.sh")
    text = frame.replace(b"# @environment@", _environment(request, made).encode())
    return text.replace(b"# @commands@", "\n".join(_commands(made)).encode())


def _layout(tree: Iterable[FileEntry]) -> bytes:
    """Lines that make what a submission cannot carry: links and folders."""
    lines = []
    for entry in sorted(tree, key=lambda e: (e.kind == "link", e.path)):
        path = os.fsdecode(entry.path)
        if entry.kind == "dir":
            lines.append(f"mkdir -p -- {shlex.quote(path)}")
        elif entry.kind == "link":
            folder = os.path.dirname(path) or "."
            made = f"ln -sfn -- {shlex.quote(os.fsdecode(entry.content))} {shlex.quote(path)}"
            lines.append(f"mkdir -p -- {shlex.quote(folder)} && {made}")
    return os.fsencode("".join(f"{line}\n" for line in lines))


def _frame(name: str) -> bytes:
    return (Path(frames.__file__).parent / name).read_bytes()


def _environment(request: BuildRequest, made: Recipe) -> str:
    toolchain = request.toolchain
    flags = wrapper_flags(toolchain, request.flavour, bundles=bool(made.packages))
    values = {
        **{k: v for k, v in made.env.items() if k not in OWN_PLACES},
        "tool": request.entry.tool,
        "target": request.output,
        "compilers": " ".join(toolchain.wrapped),
        "flags": flags,
        "shown": " ".join(sorted(shown_libraries(toolchain))),
    }
    lines = [f"{name}={shlex.quote(value)}" for name, value in sorted(values.items())]
    exported = sorted(set(made.env) - OWN_PLACES)
    return "\n".join([*lines, f"export {' '.join(exported)}"])


def _commands(made: Recipe) -> list[str]:
    """One line per command, each in a shell of its own as the build runs them; installing may fail."""
    build = [shlex.join(c.words) + (" || true" if c.may_fail else "") for c in made.build]
    return [*build, *(f"{shlex.join(c.words)} || true" for c in made.install)]
