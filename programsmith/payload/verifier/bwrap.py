"""The bubblewrap launcher: every launch in fresh namespaces, under an init of ours that is the first process inside.

What holds the five properties: a root with nothing but the view and the request's mounts; own user, pid and uts
namespaces, an empty network and an ipc namespace of the launch's or of its slot's; no capability, no-new-privileges, a
system call filter, Landlock on execution; a work directory that is a tmpfs of its own; the init and everything below it
die with the pid namespace. As root a launch becomes an ordinary user first, since process limits do not bind root.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

from programsmith.payload.verifier.cgroup import Group, open_pool
from programsmith.payload.verifier.host import Ends, children, crossable, has_ended, pipes
from programsmith.payload.verifier.isolated import IsolatedLauncher, Launch
from programsmith.payload.verifier.launcher import View
from programsmith.payload.verifier.root import DEVICES, DIRS, INSIDE_ID, links
from programsmith.payload.verifier.slots import Slots

HIDDEN = "/run/init"  # where the init's files are until it starts the program
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH", "CAP_SYS_PTRACE")
_OF_A_SLOT = {"--unshare-ipc", "--unshare-net"}
_LINGER, _SILENCE = 0.02, 10.0  # seconds


class BwrapLauncher(IsolatedLauncher):
    """Launcher over bwrap."""

    name = "bwrap"
    hidden = HIDDEN
    marks = True

    def __init__(self, config: dict[str, Any]) -> None:
        counted = os.geteuid() == 0 and config.get("cgroup", True)
        super().__init__(config, Slots(open_pool() if counted else None, threads=True))
        self._fixed = tuple(_fixed_arguments(config, self._view))
        self._fixed_apart = tuple(word for word in self._fixed if word not in _OF_A_SLOT)

    def _twin(self, config: dict[str, Any]) -> BwrapLauncher:
        return BwrapLauncher(config)

    def _spawn(self, launch: Launch, request: int) -> _Bwrap:
        stages = dict(self._stages(launch))
        command = [*self._enter(launch, stages), *self._arguments(launch, stages)]
        ours, theirs = pipes()
        try:
            process = subprocess.Popen(
                [*command, str(request), str(theirs[-1])],
                stdin=theirs[0],
                stdout=theirs[1],
                stderr=theirs[2],
                pass_fds=(request, theirs[-1]),
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return _Bwrap(process, launch.slot.group, ours)

    def _enter(self, launch: Launch, stages: dict[str, str]) -> list[str]:
        """Command prefix that joins the groups, stages trees and becomes an ordinary user; nothing for a user."""
        if not self._root:
            return []
        uid = str(self._config["uid"] + launch.slot.index)
        words = [*self._config["init"]["enter"], uid, uid]
        group = launch.slot.group
        for entrance in group.entrances if group and not launch.slot.joined else ():
            words += ["join", entrance, "-"]
        for source, place in stages.items():
            words += ["stage", source, place]
        return [*words, "--"]

    def _stages(self, launch: Launch) -> Iterator[tuple[str, str]]:
        """(source, place) of the mounts that the ordinary user could not reach by their path."""
        if not self._root:
            return
        for number, mount in enumerate(launch.request.mounts):
            if not crossable(mount.source):
                kind = "tree" if os.path.isdir(mount.source) else "file"
                yield mount.source, os.path.join(self._config["stage"], f"{kind}{number}")

    def _arguments(self, launch: Launch, stages: dict[str, str]) -> list[str]:
        around = launch.request.surroundings
        fixed = self._fixed_apart if launch.slot.apart and not launch.workspace else self._fixed
        words = [*fixed, "--hostname", around.hostname]
        for bind in self._binds(launch):
            words += ["--bind" if bind.writable else "--ro-bind", stages.get(bind.source, bind.source), bind.target]
        if not launch.workspace:
            words += ["--dir", around.cwd]
        return [*words, "--remount-ro", "/", "--", *self._config["init"]["argv"]]


class _Bwrap:
    """A started bwrap, with our ends of its pipes."""

    def __init__(self, process: subprocess.Popen[bytes], group: Group | None, ours: Ends) -> None:
        self._process = process
        self._group = group
        self.stdin, self.stdout, self.stderr, self.status = ours

    def end(self, *, kill: bool, done: bool) -> str | None:
        """Wait for bwrap, killing it where it lingers; whoever holds the status pipe may outlive it."""
        if kill or not has_ended(self._process, _LINGER):
            _kill(self._process)
        elif done and self._process.returncode >= 0:
            return None  # by itself bwrap ends only after the init, and with that all in its pid namespace
        if self._group:
            self._group.kill()
        return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the init, since bwrap ends only when everything below the init is gone; bwrap itself where that fails."""
    found = children(process.pid)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if not has_ended(process, _SILENCE if found else _LINGER):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _fixed_arguments(config: dict[str, Any], view: View) -> Iterator[str]:
    """The part of bwrap's command line that no launch changes."""
    yield from (config["bwrap"], "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL")
    yield from ("--uid", str(INSIDE_ID), "--gid", str(INSIDE_ID))
    for capability in _CAPABILITIES:
        yield from ("--cap-add", capability)
    for name, value in config["init"].get("env", {}).items():
        yield from ("--setenv", name, value)
    for mount in view.mounts:
        yield from ("--ro-bind", mount.source, mount.target)
    yield from _devices(config.get("devices"))
    for path, target in view.links if config.get("devices") else links(view):
        yield from ("--symlink", target, path)
    for path in (*view.dirs, *DIRS):
        yield from ("--dir", path)
    yield from ("--proc", "/proc", "--ro-bind", config["init"]["folder"], HIDDEN)


def _devices(folder: str | None) -> Iterator[str]:
    """/dev, from a folder that holds all of it where there is one: a mount takes a twentieth of a launch."""
    if folder:
        yield from ("--dev-bind", folder, "/dev")
        return
    for path in DEVICES:
        yield from ("--dev-bind", path, path)
