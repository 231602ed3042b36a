"""Toolchains that lie in a folder of their own: where on this host, what of them is shown, what is made ready once.

In: the rule. Out: pairs of host path and path inside. A copy that was made ready lies in the shared folder, named by
what it was made from; nothing of a source takes part in making it.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.sandboxes.scratch import scratch
from programsmith.sandboxes.shared import publish
from programsmith.toolchains.model import Toolchain

SYSTEM = "/usr"
LEFT_OUT = shutil.ignore_patterns("testdata")


@lru_cache(maxsize=32)
def asked(command: tuple[str, ...]) -> str:
    """What a command of the host prints; empty where it is absent or fails. It runs outside of every source."""
    if not shutil.which(command[0]):
        return ""
    return os.fsdecode(subprocess.run(command, capture_output=True, check=False, cwd="/").stdout.strip())


def home(tc: Toolchain) -> str:
    """The folder of a toolchain that has one, on this host. Raises PrerequisiteError where it is not installed."""
    found = asked(tc.home.command) if tc.home else ""
    if not tc.home or not found.startswith("/"):
        command = " ".join(tc.home.command) if tc.home else "home"
        raise PrerequisiteError(
            f"{tc.language}: `{command}` names no folder; run: apt-get install -y {' '.join(tc.packages)}"
        )
    return found


def home_program(tc: Toolchain, name: str) -> str:
    """A program of the toolchain's own folder, past any shim that is found by its name."""
    return os.path.join(home(tc), next(p for p in tc.home.programs if os.path.basename(p) == name)) if tc.home else name


def home_parts(tc: Toolchain, *, runs: bool = False) -> list[tuple[str, str]]:
    """What a build, or a case, sees of the toolchain's folder, and where. What lies below /usr stays where it is.

    Raises PrerequisiteError where it is not installed, InfraError where it cannot be made ready.
    """
    if tc.home is None or (runs and not tc.home.runs):
        return []
    place = home(tc)
    shown = place if place == SYSTEM else tc.home.shown
    if tc.home.ready and place != SYSTEM:
        place = str(_ready(tc, place))
    parts = (*(tc.home.runs if runs else tc.home.programs), *tc.home.parts)
    found = [path for part in parts for path in sorted(glob.glob(f"{place}/{part}"))]
    return [(path, shown + path.removeprefix(place)) for path in found]


def _ready(tc: Toolchain, place: str) -> Path:
    """A copy of the toolchain in which its commands were run."""
    facts = [tc.home, place, asked(tc.version_command), os.stat(place).st_mtime_ns]
    mark = hashlib.sha256(repr(facts).encode()).hexdigest()
    return publish(f"toolchain-{mark[:32]}", lambda folder: _make_ready(tc, place, folder))


def _make_ready(tc: Toolchain, place: str, folder: Path) -> None:
    assert tc.home is not None
    for part in (*tc.home.programs, *tc.home.parts):
        for path in sorted(glob.glob(f"{place}/{part}")):
            target = folder / os.path.relpath(path, place)
            target.parent.mkdir(parents=True, exist_ok=True)
            if os.path.isdir(path):
                shutil.copytree(os.path.realpath(path), target, ignore=LEFT_OUT)
            else:
                shutil.copy2(os.path.realpath(path), target)
    with scratch("ready") as away:
        values = {"home": str(folder), "scratch": str(away)}
        base = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(away)}
        env = {**base, **{k: v.format_map(values) for k, v in tc.home.environment.items()}}
        for command in tc.home.ready:
            done = subprocess.run(
                command, cwd=away, env=env, capture_output=True, check=False, stdin=subprocess.DEVNULL
            )
            if done.returncode:
                said = done.stderr.decode("ascii", "backslashreplace")[-500:]
                raise InfraError(f"{tc.language}: `{' '.join(command)[:80]}` in a copy of {place}: {said}")
