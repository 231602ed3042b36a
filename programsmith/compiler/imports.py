"""What code a block is made of: the modules of one package that its module imports, lazily or not, and their bytes.

In: the package's folder and a module's name. Out: file list and digest, by reading sources, never by importing them.
A module that is imported by a computed name is not seen.
"""

from __future__ import annotations

import ast
import hashlib
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
        return {name: _scan(path, _stamp(path))[0] for name, path in sorted(self.closure(module).items())}

    def closure(self, module: str) -> dict[str, Path]:
        """Modules of this package that importing `module` can reach, with their files. Raises ModuleNotFoundError."""
        if self._file(module) is None:
            raise ModuleNotFoundError(module)
        found: dict[str, Path] = {}
        waiting = [module]
        while waiting:
            name = waiting.pop()
            path = self._file(name)
            if path is None or name in found:
                continue
            found[name] = path
            waiting += [name.rpartition(".")[0], *_scan(path, _stamp(path))[1]]
        return found

    def _file(self, module: str) -> Path | None:
        first, _, rest = module.partition(".")
        if first != self.name:
            return None
        base = self.folder.joinpath(*rest.split(".")) if rest else self.folder
        choices = (base / "__init__.py", base.with_name(base.name + ".py"))
        return next((c for c in choices if c.is_file()), None)


def _stamp(path: Path) -> tuple[int, int, int]:
    at = path.stat()
    return at.st_mtime_ns, at.st_ctime_ns, at.st_size


@lru_cache(maxsize=4096)
def _scan(path: Path, stamp: tuple[int, int, int]) -> tuple[str, tuple[str, ...]]:
    """SHA-256 of a source and every name that it imports; `stamp` makes an edited file a new question."""
    del stamp
    source = path.read_bytes()
    return hashlib.sha256(source).hexdigest(), tuple(_imported(ast.parse(source, str(path))))


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
