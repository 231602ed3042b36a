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

from programsmith.payload.verifier.cgroup import open_pool
from programsmith.payload.verifier.host import require_readable
from programsmith.payload.verifier.isolated import IsolatedLauncher, Launch
from programsmith.payload.verifier.launcher import LauncherError
from programsmith.payload.verifier.root import DEVICES, DIRS, INSIDE_ID, links
from programsmith.payload.verifier.server import Launched, Servers
from programsmith.payload.verifier.slots import Slot, Slots
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
        self._servers = Servers(config["server"])
        self._last: tuple[object, bytes] = (None, b"")  # what was asked for last, and what makes it so

    def _twin(self, config: dict[str, Any]) -> CompiledLauncher:
        return CompiledLauncher(config)

    def close(self) -> None:
        """End the servers, remove the groups. No launch may be under way."""
        self._servers.close()
        super().close()

    def _spawn(self, launch: Launch, request: int) -> Launched:
        slot = launch.slot
        return self._servers.launch(slot.index, slot.group, lambda: self._setup(slot), self._asked(launch), request)

    def _prepare(self, slot: Slot) -> None:
        self._servers.prepare(slot.index, self._setup(slot))

    def _setup(self, slot: Slot) -> bytes:
        group, view = slot.group, self._view
        shown = [Bind(os.path.realpath(m.source), m.target) for m in view.mounts]
        return encode_setup(
            Setup(
                owner=self._config["uid"] + slot.index if self._root else None,
                inside=INSIDE_ID,
                joins=group.entrances if group else (),
                links=links(view),
                dirs=(*view.dirs, *DIRS, *_KEPT_DIRS),
                binds=(*shown, *(Bind(path, path, writable=DEVICE) for path in DEVICES)),
            )
        )

    def _asked(self, launch: Launch) -> bytes:
        """What the root must hold for this launch (payload/launch/launch.c). Raises OSError, LauncherError."""
        binds = self._binds(launch)
        facts = [os.stat(bind.source) for bind in binds]
        place = None if launch.workspace else launch.request.surroundings.cwd
        made_of = place, binds, [(f.st_dev, f.st_ino, f.st_mode) for f in facts]
        last, asked = self._last
        if made_of != last:
            asked = self._words(launch, place, binds, facts)
            self._last = made_of, asked
        return asked

    def _words(self, launch: Launch, place: str | None, binds: list[Bind], facts: list[os.stat_result]) -> bytes:
        for mount in launch.request.mounts if self._root else ():
            require_readable(mount.source)
        words = list(_words(place, binds, facts))
        asked = b"".join(os.fsencode(word) + b"\0" for word in words)
        if len(asked) > _MOST_ASKED:
            raise LauncherError(f"{len(words)} paths to show: they take more than {_MOST_ASKED} bytes")
        return asked


def _words(place: str | None, binds: list[Bind], facts: list[os.stat_result]) -> Iterator[str]:
    if place is not None:
        yield f"d{place}"
    for bind, one in zip(binds, facts, strict=True):
        if bind.source != os.devnull:  # an executable that is hidden is there already
            yield f"{'d' if stat.S_ISDIR(one.st_mode) else 'f'}{bind.target}"
        yield f"i{one.st_dev}:{one.st_ino}"  # the path may lead to another tree than last time
        yield f"{'w' if bind.writable else 'r'}{os.path.realpath(bind.source)}"
        yield bind.target
