"""The compiled launcher: what bwrap and the init do, done by one C program that starts once for each slot.

The server (payload/launch) keeps what launches of a slot share: a user namespace, an empty network, the control group,
the skeleton of the root. Each launch gets fresh mount, pid, ipc and uts namespaces, a root of its own and the init's
code as its first process, at the cost of a clone instead of three executions. Same request, same answer as over bwrap.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any

from programsmith.payload.verifier.cgroup import Group, open_pool
from programsmith.payload.verifier.host import crossable
from programsmith.payload.verifier.isolated import IsolatedLauncher, Launch
from programsmith.payload.verifier.launcher import LauncherError
from programsmith.payload.verifier.root import DEVICES, DIRS, INSIDE_ID, links
from programsmith.payload.verifier.server import Server
from programsmith.payload.verifier.slots import Slots
from programsmith.payload.verifier.wire import DEVICE, Bind, Setup, encode_setup

_MOST_ASKED = 60_000  # bytes of one control message
_KEPT_DIRS = ("/proc", "/run/init")


class CompiledLauncher(IsolatedLauncher):
    """Launcher over one server per slot."""

    name = "compiled"
    hidden = ""
    marks = False

    def __init__(self, config: dict[str, Any]) -> None:
        counted = os.geteuid() == 0 and config.get("cgroup", True)
        super().__init__(config, Slots(open_pool() if counted else None, threads=False))
        self._servers: dict[int, Server] = {}

    def _twin(self, config: dict[str, Any]) -> CompiledLauncher:
        return CompiledLauncher(config)

    def close(self) -> None:
        """End the servers, remove the groups. No launch may be under way."""
        for server in self._servers.values():
            server.close()
        self._servers.clear()
        super().close()

    def _spawn(self, launch: Launch, request: int) -> _Launched:
        asked = self._asked(launch)
        stdin, stdout, stderr, status = (os.pipe() for _ in range(4))
        theirs = (stdin[0], stdout[1], stderr[1], status[1])
        ours = (stdin[1], stdout[0], stderr[0], status[0])
        try:
            server = self._launched(launch, asked, (*theirs, request))
        except (OSError, LauncherError):
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return _Launched(server, launch.slot.group, ours)

    def _launched(self, launch: Launch, asked: bytes, passed: tuple[int, ...]) -> Server:
        """Hand the launch to the server of its slot, or to a new one where there is none. Raises LauncherError."""
        index = launch.slot.index
        server = self._servers.get(index)
        if server is None or not server.launch(asked, passed):
            if server is not None:
                server.close()
            server = self._servers[index] = Server(self._config["server"], self._setup(launch))
            if not server.launch(asked, passed):
                raise LauncherError("launch server: it ended before its first launch")
        return server

    def _setup(self, launch: Launch) -> bytes:
        group, view = launch.slot.group, self._view
        shown = [Bind(os.path.realpath(m.source), m.target) for m in view.mounts]
        return encode_setup(
            Setup(
                owner=self._config["uid"] + launch.slot.index if self._root else None,
                inside=INSIDE_ID,
                joins=group.entrances if group else (),
                links=links(view),
                dirs=(*view.dirs, *DIRS, *_KEPT_DIRS),
                binds=(*shown, *(Bind(path, path, writable=DEVICE) for path in DEVICES)),
            )
        )

    def _asked(self, launch: Launch) -> bytes:
        """What the root must hold for this launch (payload/launch/launch.c). Raises OSError, LauncherError."""
        for mount in launch.request.mounts if self._root else ():
            crossable(mount.source)
        words = list(_words(launch, self._binds(launch)))
        asked = b"".join(os.fsencode(word) + b"\0" for word in words)
        if len(asked) > _MOST_ASKED:
            raise LauncherError(f"{len(words)} paths to show: they take more than {_MOST_ASKED} bytes")
        return asked


def _words(launch: Launch, binds: list[Bind]) -> Iterator[str]:
    if not launch.workspace:
        yield f"d{launch.request.surroundings.cwd}"
    for bind in binds:
        source = os.path.realpath(bind.source)
        facts = os.stat(source)
        if bind.source != os.devnull:  # an executable that is hidden is there already
            yield f"{'d' if stat.S_ISDIR(facts.st_mode) else 'f'}{bind.target}"
        yield f"i{facts.st_dev}:{facts.st_ino}"  # the path may lead to another tree than last time
        yield f"{'w' if bind.writable else 'r'}{source}"
        yield bind.target


class _Launched:
    """A launch in the hands of a server."""

    def __init__(self, server: Server, group: Group | None, ours: tuple[int, int, int, int]) -> None:
        self._server = server
        self._group = group
        self.stdin, self.stdout, self.stderr, self.status = ours

    def end(self, *, kill: bool, done: bool) -> str | None:
        """Wait for the word that all processes are dead, where the report did not say so; why it did not come."""
        if done and not kill:
            return None
        fault = self._server.end(kill=kill)
        if fault and self._group:
            self._group.kill()
        return fault
