"""The bubblewrap launcher: every launch in fresh namespaces, under an init of ours that is the first process inside.

What holds the five properties: a root with nothing but the view and the request's mounts; own user, pid, network, ipc
and uts namespaces; no capability, no-new-privileges, a system call filter, Landlock on execution; a work directory that
is a tmpfs of its own; the init and everything below it die with the pid namespace. As root a launch becomes an
ordinary user first, since process limits do not bind root.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

from programsmith.payload.verifier.cgroup import Group, open_pool
from programsmith.payload.verifier.host import children, crossable, has_ended
from programsmith.payload.verifier.isolated import IsolatedLauncher, Launch
from programsmith.payload.verifier.launcher import View
from programsmith.payload.verifier.root import DEVICES, DIRS, INSIDE_ID, links
from programsmith.payload.verifier.slots import Slots

HIDDEN = "/run/init"  # where the init's files are until it starts the program
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH", "CAP_SYS_PTRACE")
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

    def _twin(self, config: dict[str, Any]) -> BwrapLauncher:
        return BwrapLauncher(config)

    def _spawn(self, launch: Launch, request: int) -> _Bwrap:
        stages = dict(self._stages(launch))
        command = [*self._enter(launch, stages), *self._arguments(launch, stages)]
        status, report = os.pipe()
        try:
            process = subprocess.Popen(
                [*command, str(request), str(report)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(request, report),
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:
            os.close(status)
            raise
        finally:
            os.close(report)
        return _Bwrap(process, launch.slot.group, status)

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
        words = [*self._fixed, "--hostname", around.hostname]
        for bind in self._binds(launch):
            words += ["--bind" if bind.writable else "--ro-bind", stages.get(bind.source, bind.source), bind.target]
        if not launch.workspace:
            words += ["--dir", around.cwd]
        return [*words, "--remount-ro", "/", "--", *self._config["init"]["argv"]]


class _Bwrap:
    """A started bwrap, its pipes taken over."""

    def __init__(self, process: subprocess.Popen[bytes], group: Group | None, status: int) -> None:
        self._process = process
        self._group = group
        self.status = status
        self.stdin, self.stdout, self.stderr = (
            _taken(pipe) for pipe in (process.stdin, process.stdout, process.stderr)
        )

    def end(self, *, kill: bool, done: bool) -> str | None:
        """Wait for bwrap, killing it where it lingers; whoever holds the status pipe may outlive it."""
        del done
        if kill or not has_ended(self._process, _LINGER):
            _kill(self._process)
        if self._group:
            self._group.kill()
        return None


def _taken(pipe: Any) -> int:
    with pipe:
        return os.dup(pipe.fileno())


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
    for path, target in links(view):
        yield from ("--symlink", target, path)
    for path in (*view.dirs, *DIRS):
        yield from ("--dir", path)
    for path in DEVICES:
        yield from ("--dev-bind", path, path)
    yield from ("--proc", "/proc", "--ro-bind", config["init"]["folder"], HIDDEN)
