"""The embedded sandbox: a persistent workspace on the host, a fresh launch for every run.

In: a `SandboxPlan`. Out: results of runs, and entries of the workspace. The workspace and the plan's further writable
paths are all that a run can write and that outlives it; they lie in the shared folder under its owner's mark, and are
read and removed without following a link, however deep or unreadable a run left them.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.payload.verifier.isolated import Workspace
from programsmith.payload.verifier.launcher import Request, Result, Surroundings, View
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.payload.verifier.wire import check_paths
from programsmith.sandboxes import hostile
from programsmith.sandboxes.base import BUBBLEWRAP, SandboxPlan, place_of, program_path
from programsmith.sandboxes.config import FIRST_UID, launcher_config
from programsmith.sandboxes.owners import prefix
from programsmith.sandboxes.scratch import reap_scratch
from programsmith.sandboxes.shared import shared_root
from programsmith.sandboxes.view import unrestricted


class EmbeddedSandbox:
    """Sandbox over the launcher of this host."""

    name = BUBBLEWRAP

    def __init__(self, plan: SandboxPlan) -> None:
        if not isinstance(plan.view, View):
            raise TypeError(f"wanted a view of this host, got {plan.view!r}")
        self._plan = plan
        self._launcher = bubblewrap(launcher_config(unrestricted(plan.view)))
        self._beside = plan.beside.spaces if isinstance(plan.beside, EmbeddedSandbox) else {}
        self._owner = FIRST_UID if os.geteuid() == 0 else None
        reap_scratch()
        self._top = Path(tempfile.mkdtemp(prefix=prefix("workspace"), dir=shared_root()))
        self._top.chmod(0o711)
        self._ended = False
        own = {at: self._top / f"w{n}" for n, at in enumerate((plan.workspace, *plan.writable))}
        for space in own.values():
            self._make(space)
        self.spaces: Mapping[str, Path] = own
        self._shown = {**self._beside, **own}
        for at in own:  # one that lies in another needs its place there
            above = [place for place in self._shown if at.startswith(place + "/")]
            if above and os.path.dirname(at) == max(above, key=len):
                with contextlib.suppress(FileExistsError):
                    self._make(self._shown[os.path.dirname(at)] / os.path.basename(at))

    def _make(self, folder: Path) -> None:
        folder.mkdir(mode=0o755)
        if self._owner is not None:
            os.chown(folder, self._owner, self._owner)

    def run(
        self, argv: tuple[bytes, ...], *, cwd: str, limits: Limits, stdin: bytes = b"", beside: Limits | None = None
    ) -> Result:
        """Run a command in the workspace and wait until all of its processes are gone. Raises InfraError."""
        if self._ended:
            raise InfraError(f"sandbox run of {argv[0]!r}: the sandbox has ended")
        request = Request(
            program=program_path(argv[0]),
            argv=argv,
            env=self._plan.env,
            limits=limits,
            stdin=stdin,
            collect=False,
            mounts=(*self._plan.mounts, *self._plan.live),
            surroundings=Surroundings(cwd=cwd),
        )

        def outgrown() -> bool:
            return hostile.outgrows(self._top, max_files=limits.work_files, max_bytes=limits.work_bytes)

        further = {at: str(space) for at, space in sorted(self._shown.items())}
        workspace = Workspace(
            target=self._plan.workspace,
            source=further.pop(self._plan.workspace),
            further=tuple(further.items()),
            outgrown=outgrown,
            fence=self._plan.fence,
            beside=beside.memory_bytes + beside.work_bytes if beside else 0,
        )
        result = self._launcher.start(request, workspace)
        for space in self.spaces.values():
            hostile.open_top(space)
        if result.fault:
            raise InfraError(f"sandbox run of {argv[0]!r}: {result.fault}")
        return replace(result, limits_hit=result.limits_hit | {"work"}) if outgrown() else result

    def put(self, entries: Iterable[FileEntry], at: str) -> None:
        """Lay entries down below the inside path `at`, which is writable."""
        found = list(entries)
        check_paths(found)
        space, parts = self._inside(at)
        with hostile.opened(space, parts, make=True, owner=self._owner) as folder:
            for entry in found:
                hostile.write_entry(folder, entry, self._owner)

    def take(self, at: str, *, max_files: int, max_bytes: int, cut: bool = False) -> tuple[FileEntry, ...]:
        """Read what lies below `at`, beneath and without following links; caps raise InputError, or `cut`."""
        space, parts = self._inside(at)
        with hostile.opened(space, parts) as folder:
            return tuple(sorted(hostile.read_tree(folder, max_files=max_files, max_bytes=max_bytes, cut=cut)))

    def host_path(self, at: str) -> Path:
        """Where the inside path lies on the host, for bulk work on trusted trees."""
        space, parts = self._inside(at)
        return space.joinpath(*parts)

    def end(self) -> None:
        """End every process inside; nothing runs here any more, and what was written stays. Idempotent."""
        self._ended = True  # a run waits for the end of its own pid namespace: the groups are the second proof
        self._launcher.close()

    def close(self) -> None:
        """End and remove everything. Idempotent."""
        self.end()
        hostile.remove_tree(self._top)

    def _inside(self, at: str) -> tuple[Path, list[str]]:
        """The writable folder on the host that holds the inside path `at`, and the parts below it."""
        place, parts = place_of(at, tuple(self.spaces))
        return self.spaces[place], parts
