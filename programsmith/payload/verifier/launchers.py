"""The launchers that may score: opened from the environment file that the host wrote, probed before anything runs.

The environment file is JSON: kind, fingerprint, and one launcher config each for the build view and the run view.
Refused: a kind that is not in the closed table below. The plain launcher of the public runner is not in it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from programsmith.payload.verifier.bwrap import BwrapLauncher
from programsmith.payload.verifier.compiled import CompiledLauncher
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.launcher import Launcher, LauncherError
from programsmith.payload.verifier.uid import UidLauncher


def bubblewrap(config: dict[str, Any]) -> IsolatedLauncher:
    """The launcher of the embedded backend: compiled where the host has a C compiler, else over bwrap."""
    return CompiledLauncher(config) if config.get("server") else BwrapLauncher(config)


KINDS: Mapping[str, Callable[[dict[str, Any]], Launcher]] = {
    "bubblewrap": bubblewrap,
    "uid": UidLauncher,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launchers:
    """One launcher per stage, and the limits that the kernel holds a case to."""

    build: Launcher
    run: Launcher
    enforced: tuple[str, ...]


@contextmanager
def opened(raw: bytes) -> Iterator[Launchers]:
    """Open both launchers and prove the run launcher's isolation. Raises LauncherError, also on a broken file."""
    try:
        value = json.loads(raw)
        make, build, run = KINDS[value["kind"]], copy.deepcopy(value["build"]), value["run"]
        build["view"]["executables"].append(SUBMISSION)  # a build may start what it has just made
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise LauncherError(f"environment file: wanted kind ({', '.join(KINDS)}), build and run: {fault!r}") from fault
    stages: list[Launcher] = []
    try:
        stages.append(make(build))
        stages.append(make(run))
        yield Launchers(build=stages[0], run=stages[1], enforced=stages[1].probe())
    finally:
        for stage in stages:
            stage.close()
