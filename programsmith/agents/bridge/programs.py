"""The programs of the bridge: shim, server and relay, in C where this host compiles them, else their Python twins.

In: payload/bridge, a task's root. Out: a folder that sandboxes show, and the words that start a program of it there.
The twins run on the Python of the root; that of an image is covered by shims where the agent is, so there it takes a C
compiler on this host.
"""

from __future__ import annotations

import compileall
import hashlib
import py_compile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.launcher import View
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.pid1 import static_programs
from programsmith.sandboxes.shared import open_folders, publish
from programsmith.sandboxes.view import PYTHON_HOME

AT = "/run/bridge"
NAMES = ("shim", "serve", "relay")
_PACKAGE = "programsmith/payload/bridge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Where they lie on this host; `executables` are further paths inside that a shim needs to be executed."""

    folder: Path
    executables: tuple[str, ...] = ()

    def words(self, name: str) -> tuple[bytes, ...]:
        """What starts one of them inside."""
        return (f"{AT}/{name}".encode(),)


def programs(root: View | Image, kind: str = "auto") -> Programs:
    """The programs for a task in `root`. `kind`: `auto`, `c` or `python`. Raises PrerequisiteError."""
    if kind != "python":
        try:
            return Programs(folder=static_programs("bridge", NAMES))
        except InfraError as fault:
            if kind == "c" or isinstance(root, Image):
                raise PrerequisiteError(f"the bridge to an agent takes a C compiler ({fault}): install gcc") from fault
    if isinstance(root, Image):
        raise PrerequisiteError("in an image the bridge to an agent is compiled: install gcc on this host")
    python = _interpreter(root)
    return Programs(folder=_twins(python), executables=(python,))


def _interpreter(view: View) -> str:
    """The path inside of the view's Python. Raises PrerequisiteError."""
    for mount in view.mounts:
        found = sorted(Path(mount.source).glob("bin/python3.*")) if mount.target == PYTHON_HOME else ()
        if found:
            return f"{PYTHON_HOME}/bin/{found[0].name}"
    raise PrerequisiteError("the task sandbox shows no Python, and there is no C compiler for the bridge: install gcc")


def _twins(python: str) -> Path:
    """The Python twins, each with a start script on this interpreter."""
    home = Path(str(resources.files("programsmith.payload"))) / "bridge"
    modules = sorted(home.glob("*.py"))
    total = hashlib.sha256(python.encode())
    for file in modules:
        total.update(file.name.encode() + b"\0" + file.read_bytes())

    def fill(place: Path) -> None:
        package = place / _PACKAGE
        package.mkdir(parents=True)
        for folder in (package.parent, package.parent.parent):
            (folder / "__init__.py").touch()
        for file in modules:
            (package / file.name).write_bytes(file.read_bytes())
        compileall.compile_dir(
            str(place), quiet=2, stripdir=str(place), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
        for name in NAMES:
            module = f"{_PACKAGE.replace('/', '.')}.{name}"
            (place / name).write_text(
                f"#!{python} -IS\nimport sys\nsys.path.insert(0, {AT!r})\n"
                f"from {module} import main\nsys.exit(main())\n",
                encoding="ascii",
            )
            (place / name).chmod(0o755)
        open_folders(place)

    return publish(f"bridge-py-{total.hexdigest()[:16]}", fill)
