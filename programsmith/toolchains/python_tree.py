"""The installed tree of a Python program: its packages below lib/, its dependencies below vendor/, a starter in bin/.

In: the source's entries (after its build commands) and the fetched dependencies. Nothing of it is run here.
Refuses (BuildRefusedError) an entry point whose module or script the source does not hold.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import programsmith.payload.entry as templates
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.records.outcome import Word
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

IMPORT_ROOTS = ("src", "lib", "python", "")


def python_tree(
    entries: Sequence[FileEntry], request: BuildRequest, vendor: Iterable[FileEntry]
) -> tuple[FileEntry, ...]:
    """Entries of the tree that is shown at the prefix. Raises BuildRefusedError."""
    entry, leave = request.entry, request.system.leave
    root = import_root(entries, entry)
    lib = [_moved(e, root, "lib/") for e in entries if _belongs(e, root, leave)]
    if entry.kind == "python-console-script":  # what is imported: modules and packages, no stray files beside them
        lib = [e for e in lib if e.path.count(b"/") > 1 or e.kind == "dir" or e.path.endswith(b".py")]
    starter = FileEntry(b"bin/" + os.fsencode(entry.tool), "file", 0o755, starter_text(entry, root))
    return tuple(sorted([*lib, *distribution(entries, request), *vendor, starter]))


def import_root(entries: Iterable[FileEntry], entry: EntryPoint) -> str:
    """The folder of the source that goes onto the import path, empty for its root. Raises BuildRefusedError."""
    paths = {os.fsdecode(e.path) for e in entries if e.kind != "dir"}
    if entry.kind == "python-script":
        if entry.target in paths:
            first = entry.target.split("/")[0]
            return first if _is_package_main(entry) and first in IMPORT_ROOTS else ""
        raise BuildRefusedError(Word.UNBUILDABLE, f"the source has no script {entry.target!r} ({entry.how})")
    top = entry.target.split(":")[0].split(".")[0]
    for root in IMPORT_ROOTS:
        base = f"{root}/{top}" if root else top
        if f"{base}.py" in paths or any(p.startswith(base + "/") and p.endswith(".py") for p in paths):
            return root
    raise BuildRefusedError(
        Word.UNBUILDABLE,
        f"module {top!r} of {entry.target!r} ({entry.how}) is in none of "
        f"{', '.join(repr(r) for r in IMPORT_ROOTS)}; say in build.build how it is made",
    )


def _is_package_main(entry: EntryPoint) -> bool:
    return entry.target.endswith("/__main__.py")


def _belongs(entry: FileEntry, root: str, leave: Sequence[str]) -> bool:
    path = os.fsdecode(entry.path)
    inner = path.removeprefix(root + "/") if root else path
    if root and inner == path:
        return False
    return not (inner.startswith(".") or inner.split("/")[0] in leave or "__pycache__" in inner.split("/"))


def _moved(entry: FileEntry, root: str, to: str) -> FileEntry:
    inner = entry.path[len(root) + 1 :] if root else entry.path
    return FileEntry(to.encode() + inner, entry.kind, entry.mode, entry.content)


def starter_text(entry: EntryPoint, root: str) -> bytes:
    """The program in bin/: it sets the import path from where it lies, so that the tree may lie anywhere."""
    folder = Path(templates.__file__).parent
    if entry.kind == "python-script" and _is_package_main(entry):
        module = entry.target.removesuffix("/__main__.py").removeprefix(root + "/" if root else "").replace("/", ".")
        text = (folder / "module.py").read_text("utf-8").replace("entry_module", module)
    elif entry.kind == "python-script":
        script = os.path.relpath(entry.target, root or ".")
        text = (folder / "script.py").read_text("utf-8").replace("script_path", script)
    else:
        module, _, function = entry.target.partition(":")
        text = (folder / "console.py").read_text("utf-8").replace("entry_module", module)
        text = text.replace("import entry_function", f"import {function.split('.')[0]}")
        text = text.replace("entry_function()", f"{function}()")
    text = text.replace("  # type: ignore[import-not-found]  # noqa: E402", "")
    return text.replace("tool_name", entry.tool).encode("utf-8")


def distribution(entries: Iterable[FileEntry], request: BuildRequest) -> list[FileEntry]:
    """What `importlib.metadata` reads of the program's own distribution, from a static pyproject.toml."""
    by_path = {e.path: e.content for e in entries}
    try:
        project = tomllib.loads(by_path.get(b"pyproject.toml", b"").decode("utf-8")).get("project", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return []
    name = project.get("name")
    if not isinstance(name, str):
        return []
    version = project.get("version") or _declared_version(by_path, request.entry)
    folder = f"lib/{re.sub(r'[-_.]+', '_', name)}-{version}.dist-info"
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    scripts = "".join(f"{k} = {v}\n" for k, v in project.get("scripts", {}).items())
    return [
        FileEntry(f"{folder}/METADATA".encode(), "file", 0o644, text.encode()),
        FileEntry(f"{folder}/entry_points.txt".encode(), "file", 0o644, f"[console_scripts]\n{scripts}".encode()),
    ]


def _declared_version(by_path: dict[bytes, bytes], entry: EntryPoint) -> str:
    """`__version__ = "…"` in the entry's package; 0 where it is computed."""
    top = re.escape(entry.target.split(":")[0].split(".")[0].encode())
    for path in sorted(by_path):
        if re.search(rb"(^|/)" + top + rb"(\.py|/.*\.py)$", path):
            found = re.search(rb"(?m)^__version__\s*(?::\s*\w+\s*)?=\s*[\"']([\w.+-]+)[\"']", by_path[path])
            if found:
                return found[1].decode("ascii")
    return "0"
