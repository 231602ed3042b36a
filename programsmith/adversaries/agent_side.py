"""The agent's side of an adversary: its program runs where an agent works, before anything is handed in.

In: a bundle, the program, what it may see besides /app. Out: what it left in each place that the task's `artifacts`
declare. It runs as an agent's command does: isolated, without a network, over a copy of the bundle's /app.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from programsmith.adversaries.registry import Adversary
from programsmith.bundle.controls import Files
from programsmith.bundle.render import PAYLOAD
from programsmith.bundle.zipapp import PACKAGE
from programsmith.errors import InfraError
from programsmith.payload.verifier.environment import BASE_ENV, SUBMISSION
from programsmith.payload.verifier.launcher import Mount
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.tree import write_tree
from programsmith.sandboxes import open_sandbox
from programsmith.sandboxes.base import SandboxPlan
from programsmith.sandboxes.view import python_view

LIMITS = Limits(
    cpu_seconds=30,
    wall_seconds=60,
    memory_bytes=1 << 30,
    pids=64,
    output_bytes=1 << 20,
    work_bytes=1 << 28,
    work_files=10_000,
)
TESTS = "/tests"
WRITABLE = (TESTS,)
"""Places besides the submission that an agent can write and that a task could declare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What an agent meets: the bundle that it works on, the published one, remembered repositories by address."""

    bundle: Path
    published: Path
    memory: Mapping[str, Files]


def handed_over(one: Adversary, side: Side, start: Files, scratch: Path) -> dict[str, Files]:
    """Run the adversary's agent over `start`; inside path to what was left there, for each declared artifact.

    Raises InfraError where the agent could not be run or failed.
    """
    mounts = _mounts(one, side, scratch)
    plan = SandboxPlan(
        view=python_view(),
        workspace=SUBMISSION,
        writable=WRITABLE,
        mounts=tuple(mounts),
        env=BASE_ENV,
    )
    sandbox = open_sandbox(plan)
    try:
        sandbox.put(start, SUBMISSION)
        program = f"/agent/{one.agent}.py".encode()
        result = sandbox.run((b"python3", b"-IS", program), cwd=SUBMISSION, limits=LIMITS)
        if result.exit_code != 0:
            said = result.stderr[-400:].decode("utf-8", "backslashreplace")
            raise InfraError(f"adversary {one.id}: its agent failed ({result.exit_code}): {said}")
        return {
            place: sandbox.take(place, max_files=LIMITS.work_files, max_bytes=LIMITS.work_bytes)
            for place in declared(side.bundle)
        }
    finally:
        sandbox.close()


def declared(bundle: Path) -> tuple[str, ...]:
    """Places whose content the task hands over to the verifier."""
    artifacts = tomllib.loads((bundle / "task.toml").read_text(encoding="utf-8"))["artifacts"]
    whole = {a if isinstance(a, str) else a["source"] for a in artifacts}
    return tuple(sorted(whole & {SUBMISSION, *WRITABLE}))


def receive(bundle: Path, left: Mapping[str, Files], submission: Path) -> None:
    """Lay what was handed over where the verifier looks for it: the submission, and what overlays the tests folder."""
    write_tree(str(submission), [e for e in left[SUBMISSION] if e.kind in {"file", "dir", "link"}])
    for entry in left.get(TESTS, ()):
        if entry.kind == "file":
            (bundle / "tests" / entry.path.decode("ascii")).write_bytes(entry.content)


def _mounts(one: Adversary, side: Side, scratch: Path) -> list[Mount]:
    app = scratch / "app"
    shutil.copytree(side.bundle / "environment" / "app", app)
    shutil.copy(side.bundle / "instruction.md", app / "instruction.md")
    (app / "submission").mkdir()
    mounts = [
        Mount(source=str(app), target="/app"),
        Mount(source=str(PAYLOAD / "adversaries" / "agent"), target="/agent"),
        Mount(source=str(PACKAGE), target="/kit/programsmith"),
        Mount(source=str(_memory(side.memory, scratch / "memory")), target="/memory"),
    ]
    if one.sees:
        mounts.append(Mount(source=str(_copy(one.sees, side.published, scratch / "copy")), target="/copy"))
    return mounts


def _memory(memory: Mapping[str, Files], folder: Path) -> Path:
    """Each remembered repository in a folder that has its address for a name."""
    folder.mkdir()
    for pointer, files in memory.items():
        write_tree(str(folder / pointer), files)
    return folder


def _copy(paths: tuple[str, ...], bundle: Path, folder: Path) -> Path:
    """The published bundle, as far as the agent got it."""
    for path in paths:
        source, target = bundle / path, folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    return folder
