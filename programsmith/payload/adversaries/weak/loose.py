"""A launcher over bwrap whose launches have no processes of their own and are not ended.

The view, the closed network and the system call filter stay. The proof at the start would see it, so it is silenced.
"""

# ruff: noqa: SLF001 - a weakness takes its verifier apart

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import bwrap, isolation, plain, seccomp
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.tree import write_tree

_OWN_PROCESSES = {"--unshare-pid", "--as-pid-1", "--die-with-parent"}


@dataclass(frozen=True, kw_only=True)
class _Loose(plain.PlainLauncher):
    """One launch."""

    launcher: IsolatedLauncher

    def _spawn(self, request: Request, work: str, fence: int | None) -> subprocess.Popen[bytes]:
        del fence
        rules = os.memfd_create("filter")
        os.write(rules, seccomp.assemble(families=seccomp.CASE_FAMILIES))
        os.lseek(rules, 0, os.SEEK_SET)
        try:
            return subprocess.Popen(
                [*self._words(request, work, rules), request.program, *request.argv[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=dict(request.env),
                pass_fds=(rules,),
                start_new_session=True,
            )
        finally:
            os.close(rules)

    def _words(self, request: Request, work: str, rules: int) -> Iterator[str]:
        config, view = self.launcher._config, self.launcher._view
        words = list(bwrap._fixed_arguments(config, view))
        last = words.index("--proc") + 2  # behind it stands the init, which alone needs capabilities
        rights = {at + more for at, word in enumerate(words) if word == "--cap-add" for more in (0, 1)}
        yield from (word for at, word in enumerate(words[:last]) if word not in _OWN_PROCESSES and at not in rights)
        yield from ("--bind", work, request.surroundings.cwd, "--chdir", request.surroundings.cwd, "--tmpfs", "/tmp")  # noqa: S108
        for mount in request.mounts:
            yield from ("--ro-bind", mount.source, mount.target)
        yield from ("--seccomp", str(rules), "--")


def _run(_former: Any, launcher: IsolatedLauncher, request: Request) -> Result:
    with tempfile.TemporaryDirectory(prefix="loose-", ignore_cleanup_errors=True) as scratch:
        work = os.path.join(scratch, "work")
        write_tree(work, request.files)
        return _Loose(submission=work, executables=None, launcher=launcher)._launch(request, work)


def _await(_former: Any, process: subprocess.Popen[bytes]) -> None:
    process.wait()


def _believe(*_given: Any) -> None:
    """Prove nothing."""


def loosen() -> None:
    """Launch loosely."""
    swap(IsolatedLauncher, "run", _run)
    swap(plain, "_end", _await)
    swap(isolation, "prove", _believe)
