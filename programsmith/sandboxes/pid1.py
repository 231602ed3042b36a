"""The programs of ours that launches start with: the launch server, and the init that bwrap starts, in C or Python.

In: the sources below payload/launch and payload/init. Out: a folder in the shared root and the words that start it. A
static program is tried first, then a dynamic one that carries its loader and C library; without a C compiler the twin
of the init comes with an interpreter of its own. Either way the init detaches its folder before the program starts, so
that no case can see, read or execute it, and the view of the case does not matter.
"""

from __future__ import annotations

import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.payload.verifier.bwrap import HIDDEN
from programsmith.sandboxes.digests import Digests
from programsmith.sandboxes.elf import loader_folders
from programsmith.sandboxes.roots import Root
from programsmith.sandboxes.shared import publish, shared_root
from programsmith.sandboxes.view import PYTHON_HOME, fill_tree, list_root

_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-O2", "-s", "-Wall", "-Wextra")


def sources() -> Path:
    """The folder of the init's sources."""
    return _payload() / "init"


def _payload() -> Path:
    return Path(str(resources.files("programsmith.payload")))


def _key(*extra: str) -> str:
    total = hashlib.sha256("\0".join((os.uname().machine, *extra)).encode())
    for file in sorted([*sources().iterdir(), *(_payload() / "launch").iterdir()]):
        if file.suffix in {".c", ".h", ".py"}:
            total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()[:16]


def compiled_init() -> dict[str, Any] | None:
    """The C init; None where there is no working C compiler."""
    try:
        folder = _compiled("init")
    except InfraError:
        return None
    loader = next(iter(folder.glob("usr/lib*/**/ld-*")), None)
    words = [f"{HIDDEN}/init"]
    if loader:
        words = [f"{HIDDEN}/{loader.relative_to(folder)}", "--library-path", HIDDEN + loader_folders()[0], *words]
    return {"folder": str(folder), "argv": words, "env": {}, "enter": [f"{folder}/init", "enter"]}


def compiled_server() -> Path:
    """The launch server. Raises InfraError where there is no working C compiler."""
    return _compiled("launch") / "launch"


def _compiled(name: str) -> Path:
    """The folder with a compiled program of ours and what it loads. Raises InfraError."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        raise InfraError(f"no C compiler: install one of {', '.join(_COMPILERS)}")
    return publish(f"{name}-{_key()}", lambda place: _compile(compiler, place, name))


def _compile(compiler: str, place: Path, name: str) -> None:
    said = b""
    for static in ((("-static",), False), ((), True)):
        flags, carry = static
        done = subprocess.run(
            [compiler, *_FLAGS, *flags, "-o", str(place / name), str(_payload() / name / f"{name}.c")],
            check=False,
            capture_output=True,
        )
        said = done.stderr
        if done.returncode == 0:
            if carry:
                root = Root(Digests(shared_root() / "digests.json"))
                root.add_file(str(place / name), executable=True, at=f"/{name}")
                del root.entries[f"/{name}"]
                root.write(place)
            return
    raise InfraError(f"{compiler} cannot compile {name}: {said[-400:]!r}")


def python_init() -> dict[str, Any]:
    """The Python twin, with an interpreter and standard library of its own."""
    root = list_root([sys.executable], ())

    def fill(place: Path) -> None:
        fill_tree(root, place)
        _copy_package(place)

    folder = publish(f"init-py-{_key(root.fingerprint())}", fill)
    python = next(p for p in root.entries if p.startswith(f"{PYTHON_HOME}/bin/"))
    loader = next(p for p in sorted(root.executables) if "/ld-" in p)
    library = HIDDEN + loader_folders()[0]
    words = [HIDDEN + loader, "--library-path", library, HIDDEN + python, "-S", "-s", "-B", f"{HIDDEN}/init.pyc"]
    return {
        "folder": str(folder),
        "argv": words,
        "env": {"PYTHONHOME": HIDDEN + PYTHON_HOME},
        "enter": [sys.executable, "-S", "-s", "-B", f"{folder}/init.pyc", "enter"],
    }


def _copy_package(place: Path) -> None:
    """The init's modules under their own names, compiled, and a start script; the packages above them are empty."""
    home = sources()
    names = [f"programsmith/payload/init/{file.name}" for file in sorted(home.glob("*.py"))]
    packages = ("programsmith", "programsmith/payload")
    for name in (*names, *(f"{p}/__init__.py" for p in packages)):
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = home / target.name if name in names else home / "__init__.py"
        _compile_module(source, target.with_suffix(".pyc"), name)
    _compile_module(home / "init.py", place / "init.pyc", "init")


def _compile_module(source: Path, target: Path, shown: str) -> None:
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(source), cfile=str(target), dfile=shown, doraise=True, invalidation_mode=unchecked)
