"""Commands of a Python source: declared console scripts, else scripts and `__main__` modules. Read, never run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.lock import EntryPoint
from programsmith.sources.manifests import read_ini, read_toml, setup_call, table
from programsmith.sources.tree import SourceTree

TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
NOT_A_COMMAND = re.compile(
    rb"(.*/)?(tests?|testing|docs?|examples?|benchmarks?|tools|scripts|ci|\.[^/]+)/.*|(.*/)?(setup|conftest|noxfile)\.py"
)
SHEBANG = re.compile(rb"#![^\n]*python")
ROOTS = ("", "src/", "lib/")


def python_entry_points(tree: SourceTree) -> list[EntryPoint]:
    """Declared commands whose module is in the tree; where none is declared, scripts and packages that run."""
    declared = {e.tool: e for e in _declared(tree) if _there(tree, e)}
    return list(declared.values()) if declared else list(_scripts(tree))


def _declared(tree: SourceTree) -> Iterator[EntryPoint]:
    if pyproject := tree.get(b"pyproject.toml"):
        whole = read_toml(pyproject.content)
        yield from _console(table(whole, "project", "scripts").items(), "pyproject.toml [project.scripts]")
        yield from _console(table(whole, "tool", "poetry", "scripts").items(), "pyproject.toml [tool.poetry.scripts]")
    if cfg := tree.get(b"setup.cfg"):
        lines = read_ini(cfg.content).get("options.entry_points", "console_scripts", fallback="")
        yield from _console(_pairs(lines.splitlines()), "setup.cfg console_scripts")
    if setup := tree.get(b"setup.py"):
        call = setup_call(setup.content)
        points = call.get("entry_points")
        found = points.get("console_scripts") if isinstance(points, dict) else None
        yield from _console(_pairs(found if isinstance(found, list) else []), "setup.py console_scripts")
        scripts = call.get("scripts")
        for path in scripts if isinstance(scripts, list) else []:
            if isinstance(path, str):
                yield _script(path, "setup.py scripts")


def _pairs(lines: Iterable[Any]) -> list[tuple[str, str]]:
    cut = [line.partition("=") for line in lines if isinstance(line, str) and "=" in line]
    return [(name.strip(), target.strip()) for name, _, target in cut]


def _console(pairs: Iterable[tuple[str, Any]], how: str) -> Iterator[EntryPoint]:
    for tool, value in pairs:
        target = value.partition("[")[0].strip() if isinstance(value, str) else ""
        if TARGET.fullmatch(target):
            yield EntryPoint(tool=tool, kind="python-console-script", target=target, how=how)


def _script(path: str, how: str) -> EntryPoint:
    tool = path.rpartition("/")[2].removesuffix(".py")
    return EntryPoint(tool=tool, kind="python-script", target=path, how=how)


def _there(tree: SourceTree, entry: EntryPoint) -> bool:
    if entry.kind == "python-script":
        return tree.get(entry.target.encode()) is not None
    module = entry.target.partition(":")[0].replace(".", "/")
    return any(tree.get(f"{root}{module}{end}".encode()) for root in ROOTS for end in (".py", "/__init__.py"))


def _scripts(tree: SourceTree) -> Iterator[EntryPoint]:
    for e in tree.files():
        if NOT_A_COMMAND.fullmatch(e.path) or not _utf8(e):
            continue
        path = e.path.decode()
        folder, _, name = path.rpartition("/")
        if name == "__main__.py" and folder:
            tool = folder.rpartition("/")[2].replace("_", "-")
            yield EntryPoint(tool=tool, kind="python-script", target=path, how="__main__ module")
        elif SHEBANG.match(e.content) and (e.mode & 0o100 or "." not in name):
            yield _script(path, "shebang")


def _utf8(e: FileEntry) -> bool:
    try:
        e.path.decode()
    except UnicodeDecodeError:
        return False
    return True
