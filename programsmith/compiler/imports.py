"""What code a block is made of: the modules of one package that its module imports, lazily or not, and their bytes.

In: the package's folder and a module's name. Out: file list and digest, by reading sources, never by importing them.
A module that is imported by a computed name is not seen.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path


class Package:
    """A package's sources below `folder`, which bears the package's name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name

    def digest(self, module: str) -> str:
        """SHA-256 over name and bytes of every module in the import closure of `module`."""
        total = hashlib.sha256()
        for name, digest in self.modules(module).items():
            total.update(f"{name} {digest}\n".encode())
        return total.hexdigest()

    def modules(self, module: str) -> dict[str, str]:
        """Name to SHA-256 of every module in the import closure of `module`."""
        return {name: _scan(path, _stamp(path))[0] for name, path in sorted(self._reached(module).items())}

    def closure(self, module: str) -> dict[str, Path]:
        """Modules of this package that importing `module` can reach, with their files. Raises ModuleNotFoundError."""
        return {name: Path(path) for name, path in self._reached(module).items()}

    def _reached(self, module: str) -> dict[str, str]:
        files = self._files()
        if module not in files:
            raise ModuleNotFoundError(module)
        found: dict[str, str] = {}
        waiting = [module]
        while waiting:
            name = waiting.pop()
            if name in found or name not in files:
                continue
            found[name] = files[name]
            waiting += [name.rpartition(".")[0], *_scan(files[name], _stamp(files[name]))[1]]
        return found

    def _files(self) -> dict[str, str]:
        """Name to file of every module that there is now; a folder's own module goes before a file of its name."""
        found: dict[str, str] = {}
        for place, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name.isidentifier()]
            inside = ".".join((self.name, *Path(place).relative_to(self.folder).parts))
            for name in names:
                stem, dot, suffix = name.partition(".")
                if dot + suffix != ".py":
                    continue
                if stem == "__init__":
                    found[inside] = f"{place}/{name}"
                else:
                    found.setdefault(f"{inside}.{stem}", f"{place}/{name}")
        return found


def _stamp(path: str) -> tuple[int, int, int]:
    at = os.stat(path)
    return at.st_mtime_ns, at.st_ctime_ns, at.st_size


@lru_cache(maxsize=4096)
def _scan(path: str, stamp: tuple[int, int, int]) -> tuple[str, tuple[str, ...]]:
    """SHA-256 of a source and every name that it imports; `stamp` makes an edited file a new question."""
    del stamp
    with open(path, "rb") as file:
        source = file.read()
    return hashlib.sha256(source).hexdigest(), tuple(_imported(ast.parse(source, path)))


def _imported(tree: ast.Module) -> Iterator[str]:
    """Dotted names; of `from a import b` both `a` and `a.b`, since b may be a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(origin), names=names, level=0):
                yield origin
                yield from (f"{origin}.{alias.name}" for alias in names)
            case _:
                pass
