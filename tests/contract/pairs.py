"""A pair of sandboxes with a Python program as its agent, in each backend: what tests of the bridge have in common.

The interpreter of the agent lies in the agent's own tree, as that of a real agent does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from programsmith.agents import place
from programsmith.agents.bridge import PRIVATE, TREE, Ended, Pair, open_pair
from programsmith.agents.bridge.pair import Running
from programsmith.agents.bridge.programs import programs
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.sandboxes.base import Image, SandboxPlan
from programsmith.sandboxes.config import launcher_config, require_namespaces
from programsmith.sandboxes.view import PYTHON_HOME, list_view
from tests.contract.backends import base_image
from tests.samples.reachable import open_up

SAMPLES = Path(__file__).parents[1] / "samples"
SHARES = dict.fromkeys(("cpu_seconds", "memory_bytes", "pids", "work_bytes", "work_files"), 0.25)
COMMANDS = ("python3", "sh", "bash", "cat", "ls", "sleep", "pwd", "id")
LIMITS = Limits(
    cpu_seconds=100,
    wall_seconds=100,
    memory_bytes=1 << 30,
    pids=100,
    output_bytes=1 << 22,
    work_bytes=1 << 28,
    work_files=10_000,
)


def embedded_root() -> View:
    require_namespaces()
    return list_view(programs=COMMANDS)


def docker_root() -> Image:
    return Image(id=str(base_image("python").id))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a pair is made: its root, the language of our programs, what starts a sandbox, whether groups count it."""

    root: Callable[[], View | Image]
    language: str = "auto"
    way: str = "auto"
    counted: bool = True

    def config(self, view: View) -> dict[str, Any]:
        """How a view is launched; without control groups where they are not to count."""
        return {**launcher_config(view, way=self.way), "cgroup": self.counted}


KINDS = [
    pytest.param(Kind(root=embedded_root), id="bubblewrap"),
    pytest.param(Kind(root=embedded_root, way="c"), id="bubblewrap-over-bwrap"),
    pytest.param(Kind(root=embedded_root, language="python", way="python"), id="bubblewrap-without-compiler"),
    pytest.param(Kind(root=docker_root), id="docker", marks=pytest.mark.docker),
]
UNCOUNTED = [
    pytest.param(replace(one.values[0], counted=False), id=f"{one.id}-uncounted") for one in (KINDS[0], KINDS[2])
]
"""Views as an ordinary user has them, whom no control group counts: by either init."""
BACKENDS = [KINDS[0], KINDS[-1]]
"""Where it makes no difference what starts a sandbox of a backend."""


def interpreter_tree() -> Path:
    """The agent's tree: an interpreter with its library."""
    return next(Path(m.source) for m in embedded_root().mounts if m.target == PYTHON_HOME)


def interpreter() -> bytes:
    """Its path inside."""
    found = next(p for p in sorted((interpreter_tree() / "bin").iterdir()) if p.name.startswith("python3."))
    return f"{TREE}/bin/{found.name}".encode()


def agent_env(plan: SandboxPlan) -> tuple[tuple[bytes, bytes], ...]:
    own = {b"PYTHONHOME": TREE.encode(), b"PRIVATE": PRIVATE.encode(), b"SOME_API_KEY": b"no key"}
    return tuple({**dict(plan.env), **own}.items())


@contextlib.contextmanager
def pair(
    kind: Kind,
    folder: Path,
    *,
    gateway: Path | None = None,
    withheld: tuple[str, ...] = (),
    live: tuple[Mount, ...] = (),
    app: tuple[FileEntry, ...] = (),
) -> Iterator[tuple[Pair, SandboxPlan]]:
    """An open pair whose task is one file, and `app`; its task sandbox shows `live` too."""
    open_up(folder)
    laid = place.lay(folder / "app", [FileEntry(b"README", content=b"a task\n"), *app])
    plan = replace(place.plan(kind.root(), laid, (), 0), live=live)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("programsmith.agents.bridge.pair.programs", partial(programs, kind=kind.language))
        patch.setattr("programsmith.sandboxes.embedded.launcher_config", kind.config)
        with open_pair(plan, tree=interpreter_tree(), gateway=gateway, withheld=withheld) as opened:
            yield opened, plan


def begin(opened: Pair, plan: SandboxPlan, script: str, *words: str, limits: Limits = LIMITS) -> Running:
    """Start a sample as the agent."""
    argv = (interpreter(), b"-I", b"-S", f"{PRIVATE}/{script}".encode(), *map(os.fsencode, words))
    files = [FileEntry(n.encode(), content=(SAMPLES / n).read_bytes()) for n in (script, "exhausting.py")]
    return opened.start(argv, env=agent_env(plan), cwd=place.APP, limits=limits, own=SHARES, files=files)


def ended(opened: Pair, plan: SandboxPlan, script: str, *words: str) -> Ended:
    return begin(opened, plan, script, *words).wait()
