"""The programs of ours that launches start with: the launch server, and the init that bwrap starts, in C or Python.

In: the sources below payload/launch and payload/init, or what a wheel carries compiled of them. Out: a folder in the
shared root and the words that start it. A static program is tried first, then a dynamic one that carries its loader and
C library; without a C compiler the twin of the init comes with an interpreter of its own. Either way the init detaches
its folder before the program starts, so that no case can see, read or execute it, and the case's view does not matter.
"""

from __future__ import annotations

import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.payload.verifier.bwrap import HIDDEN
from programsmith.sandboxes.digests import Digests
from programsmith.sandboxes.elf import loader_folders
from programsmith.sandboxes.prebuilt import COMPILERS, FLAGS, STATIC, digest, ready
from programsmith.sandboxes.roots import Root
from programsmith.sandboxes.shared import publish, shared_root
from programsmith.sandboxes.view import PYTHON_HOME, fill_tree, list_root


def sources() -> Path:
    """The folder of the init's sources."""
    return _payload() / "init"


def _payload() -> Path:
    return Path(str(resources.files("programsmith.payload")))


def _key(*extra: str, folders: Sequence[str] = ("init", "launch")) -> str:
    total = hashlib.sha256("\0".join((os.uname().machine, *extra)).encode())
    for file in sorted(file for folder in folders for file in (_payload() / folder).iterdir()):
        if file.suffix in {".c", ".h", ".py"}:
            total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()[:16]


def compiled_init() -> dict[str, Any] | None:
    """The C init; None where there is neither a compiled one nor a working C compiler."""
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


def static_programs(folder: str, names: Sequence[str]) -> Path:
    """A folder with programs of payload/`folder`, each of one file, that need nothing of the root they run in.

    Raises InfraError where there is no C compiler, or none that links the C library in.
    """
    carried = [ready(name) for name in names]
    if not _found() and None not in carried:
        return _carried(folder, carried)
    compiler = _compiler()

    def fill(place: Path) -> None:
        for name in names:
            done = _run_compiler(compiler, (STATIC,), place / name, _payload() / folder / f"{name}.c")
            if done.returncode != 0:
                raise InfraError(f"{compiler} cannot compile {name}: {done.stderr[-400:]!r}")

    return publish(f"{folder}-{_key(folders=[folder])}", fill)


def _carried(name: str, files: Sequence[Path | None]) -> Path:
    """A folder with programs that the wheel carries."""

    def fill(place: Path) -> None:
        for file in filter(None, files):
            shutil.copyfile(file, place / file.name)
            (place / file.name).chmod(0o755)

    return publish(f"{name}-carried-{digest()[:16]}", fill)


def _found() -> str | None:
    """This machine's compiler. Where there is one it makes the programs: then a checkout and an installation agree."""
    return next(filter(None, map(shutil.which, COMPILERS)), None)


def _compiler() -> str:
    found = _found()
    if found is None:
        raise InfraError(f"no C compiler: install one of {', '.join(COMPILERS)}")
    return found


def _run_compiler(
    compiler: str, flags: Sequence[str], target: Path, source: Path
) -> subprocess.CompletedProcess[bytes]:
    words = [compiler, *FLAGS, *flags, "-o", str(target), str(source)]
    return subprocess.run(words, check=False, capture_output=True)


def _compiled(name: str) -> Path:
    """The folder with a compiled program of ours and what it loads. Raises InfraError."""
    carried = ready(name)
    if not _found() and carried:
        return _carried(name, [carried])
    compiler = _compiler()
    return publish(f"{name}-{_key()}", lambda place: _compile(compiler, place, name))


def _compile(compiler: str, place: Path, name: str) -> None:
    said = b""
    for static in (((STATIC,), False), ((), True)):
        flags, carry = static
        done = _run_compiler(compiler, flags, place / name, _payload() / name / f"{name}.c")
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
