"""The launchers that may score: opened from the environment file that the host wrote, probed before anything runs.

The environment file is JSON: kind, fingerprint, and one launcher config each for the build view and the run view. Where
the original is of another language than the task's, `original` is the view that it runs in, behind a program of the
task's. Refused: a kind that is not in the closed table below. The plain launcher of the public runner is not in it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from programsmith.payload.verifier.bwrap import BwrapLauncher
from programsmith.payload.verifier.compiled import CompiledLauncher
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.launcher import Launcher, LauncherError
from programsmith.payload.verifier.uid import UidLauncher, spread


def bubblewrap(config: dict[str, Any]) -> IsolatedLauncher:
    """The launcher of the embedded backend: compiled where the host has a C compiler, else over bwrap."""
    return CompiledLauncher(config) if config.get("server") else BwrapLauncher(config)


KINDS: Mapping[str, Callable[[dict[str, Any]], IsolatedLauncher]] = {
    "bubblewrap": bubblewrap,
    "uid": UidLauncher,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launchers:
    """One launcher per stage, and the limits that the kernel holds a case to.

    `original` makes the launcher under which the original itself runs, once; that of submissions where they are alike.
    `ahead` begins to start what so many launches of `run` at a time will share.
    """

    build: Launcher
    run: Launcher
    original: Callable[[], Launcher]
    enforced: tuple[str, ...]
    ahead: Callable[[int], None] = lambda _: None


@contextmanager
def opened(raw: bytes) -> Iterator[Launchers]:
    """Open both launchers and prove the run launcher's isolation. Raises LauncherError, also on a broken file."""
    try:
        value = json.loads(raw)
        make, build, run = KINDS[value["kind"]], copy.deepcopy(value["build"]), value["run"]
        if value["kind"] == UidLauncher.name:
            spread((build, run))
        build["view"]["executables"].append(SUBMISSION)  # a build may start what it has just made
        apart = {**run, "view": value["original"]} if "original" in value else None
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise LauncherError(f"environment file: wanted kind ({', '.join(KINDS)}), build and run: {fault!r}") from fault
    with ExitStack() as open_things:

        def opened_stage(config: dict[str, Any]) -> IsolatedLauncher:
            launcher = make(config)
            open_things.callback(launcher.close)
            return launcher

        builder, runner = opened_stage(build), opened_stage(run)
        if not isinstance(builder, UidLauncher):  # its places hold the submission until that is received
            builder.prepare(1)
        enforced = runner.probe()  # holds for the original too: its stage differs in the view alone, no part of a proof
        original = cache(lambda: runner if apart is None else opened_stage(apart))
        yield Launchers(build=builder, run=runner, original=original, enforced=enforced, ahead=runner.prepare)
