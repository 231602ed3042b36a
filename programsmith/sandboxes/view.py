"""Root views built from lists: a launch sees what its programs need and nothing else of the host.

In: program names and paths. Out: a `View` over one content-addressed copy in the shared folder, so that a launch needs
few mounts, a home that others cannot enter does not matter, and no later change of the host changes a view. Python is
shown at /opt/python wherever the host keeps it, without site-packages and tests.
"""

from __future__ import annotations

import dataclasses
import glob
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.views import decode_view, encode_view
from programsmith.sandboxes.digests import Digests
from programsmith.sandboxes.roots import Entry, Root, merged_links
from programsmith.sandboxes.shared import open_folders, publish, shared_root

PYTHON_HOME = "/opt/python"
_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_LEFT_OUT = frozenset({"__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter",
                       "turtledemo", "ensurepip", "lib2to3", "pydoc_data"})  # fmt: skip
_UNUSED = (
    "config-*",
    "lib-dynload/_tkinter*",
    "lib-dynload/_test*",
    "lib-dynload/_xx*",
)  # the first holds static archives
_ETC = {
    "/etc/passwd": "root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:1000:1000:user:/work:/bin/sh\n",
    "/etc/group": "root:x:0:\nuser:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
}
_LOCALE = "/usr/lib/locale/C.utf8"
_HASHED, _STAMPED = b"\x01\0\0\0", b"\0\0\0\0"  # flags of a bytecode file: hash that nobody checks; time and size


def list_view(*, programs: Sequence[str], paths: Sequence[str] = (), moved: Sequence[tuple[str, str]] = ()) -> View:
    """A view that shows `programs` (names on PATH or absolute paths) with what they need, and `paths` as they are.

    `moved` are files and folders of the host and where they are shown; an executable file also gets its name in
    /usr/bin.

    `executables` are the programs and their loaders: replace them (`unrestricted`) where a build runs what it made.
    Raises PrerequisiteError where a program or path is not on this host.
    """
    root = list_root(programs, paths, moved)
    mark = root.fingerprint()
    tree = publish(f"view-{mark[:32]}", lambda place: fill_tree(root, place))
    led = {path: os.path.realpath(path) for path, _ in merged_links()}
    links = [(p, t) for p, t in merged_links() if any(entry.startswith(led[p]) for entry in root.entries)]
    return View(
        mounts=tuple(Mount(source=f"{tree}{top}", target=top) for top in root.tops()),
        links=tuple(links),
        executables=tuple(sorted(root.executables)),
        fingerprint=mark,
    )


@cache
def python_view() -> View:
    """What a program of ours in Python needs, listed once in the life of this process."""
    return list_view(programs=["python3"])


def unrestricted(view: View) -> View:
    """The same view for a build: everything that it shows, and everything in the work directory, may be executed."""
    return dataclasses.replace(view, executables=("/",))


def view_to_json(view: View) -> dict[str, Any]:
    """JSON form of a view."""
    return encode_view(view)


def view_from_json(value: dict[str, Any]) -> View:
    """View of its JSON form."""
    return decode_view(value)


def list_root(programs: Sequence[str], paths: Sequence[str], moved: Sequence[tuple[str, str]] = ()) -> Root:
    """The listing behind a view, not yet copied."""
    digests = Digests(shared_root() / "digests.json")
    root = Root(digests)
    for name in programs:
        if _PYTHON.fullmatch(os.path.basename(name)):
            _add_python(root, name)
        else:
            root.add_program(name)
    root.add_paths(tuple(paths))
    for host, inside in moved:
        root.add_moved(host, inside)
    for inside, text in _ETC.items():
        root.add_text(inside, text)
    if os.path.isdir(_LOCALE):
        root.add_folder(_LOCALE, _LOCALE)
    digests.save()
    return root


def _add_python(root: Root, name: str) -> None:
    """Show an interpreter below /opt/python, with links in /usr/bin. A bare name means the one that runs this."""
    host = os.path.realpath(name if "/" in name else sys.executable)
    prefix = os.path.dirname(os.path.dirname(host))
    found = [p for p in sorted(glob.glob(f"{prefix}/lib*/python3.*")) if os.path.isfile(f"{p}/os.py")]
    exact = [p for p in found if os.path.basename(p) == os.path.basename(host)] or found
    if not exact:
        raise PrerequisiteError(f"{host}: no standard library below {prefix}/lib; name a complete Python 3")
    library, version = exact[-1], os.path.basename(exact[-1])
    inside = f"{PYTHON_HOME}/bin/{version}"
    root.add_file(host, executable=True, at=inside)
    root.executables.add(inside)
    unused = [p for pattern in _UNUSED for p in glob.glob(f"{library}/{pattern}")]
    skip = _LEFT_OUT | {os.path.basename(p) for p in unused}
    root.add_folder(library, PYTHON_HOME + library[len(prefix) :], skip)
    for link in ("python", "python3", version):
        root.entries.setdefault(f"/usr/bin/{link}", Entry(target=inside))


def fill_tree(root: Root, place: Path) -> None:
    """Copy a listing below `place`, with compiled standard modules. Raises InfraError."""
    try:
        root.write(place)
    except OSError as fault:
        raise InfraError(f"copying a view to {place}: {fault}") from fault
    missing = [
        inside for inside, e in root.entries.items() if inside.endswith(".py") and not _bytecode(inside, e, place)
    ]
    python = next((e.source for p, e in root.entries.items() if p.startswith(f"{PYTHON_HOME}/bin/")), None)
    if python and missing:
        _compile(python, place, missing)
    open_folders(place)


def _bytecode(inside: str, entry: Entry, place: Path) -> bool:
    """Carry the host's compiled form of a module over, free of times. False where there is no valid one."""
    folder, name = os.path.split(entry.source)
    found = glob.glob(f"{glob.escape(folder)}/__pycache__/{glob.escape(name[:-3])}.cpython-*[0-9].pyc")
    if not inside.startswith(PYTHON_HOME) or not entry.source:
        return True
    facts = os.stat(entry.source)
    stamp = b"".join((int(n) & 0xFFFFFFFF).to_bytes(4, "little") for n in (facts.st_mtime, facts.st_size))
    for path in found:
        with open(path, "rb") as compiled:
            content = compiled.read()
        if content[4:16] == _STAMPED + stamp:
            target = Path(f"{place}{inside}").parent / "__pycache__" / os.path.basename(path)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(content[:4] + _HASHED + bytes.fromhex(entry.digest[:16]) + content[16:])
            return True
    return False


def _compile(python: str, place: Path, modules: Sequence[str]) -> None:
    """Compile standard modules that the host has not compiled; without them each start would do it again."""
    listed = "".join(f"{place}{m}\n" for m in modules)
    words = [
        python,
        "-I",
        "-m",
        "compileall",
        "-q",
        "--invalidation-mode",
        "unchecked-hash",
        "-s",
        str(place),
        "-i",
        "-",
    ]
    done: Callable[..., Any] = subprocess.run
    done(words, input=os.fsencode(listed), check=False, capture_output=True)
