"""The two stages of a bundle's verifier as launchers, wherever it runs: on this host, or each launch in a container.

In: a bundle, an environment file. Out: launchers for whoever looks at a stage itself; grading never goes this way. In a
container the launcher that grades there makes the launch, in a fresh container of the verifier's image.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from programsmith.bundle.container import TESTS, tests_digest, verifier_of
from programsmith.errors import InfraError
from programsmith.payload.stage.launch import decode_result, encode_request
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.launcher import LauncherError, Mount, Request, Result
from programsmith.payload.verifier.launchers import Launchers, opened
from programsmith.payload.verifier.model import Limits
from programsmith.sandboxes.base import DOCKER
from programsmith.sandboxes.docker_verifier import OUT, verify
from programsmith.sandboxes.scratch import scratch

STAGE = "/stage"
PROGRAM = "launch.py"
RESULT = b"result.json"
START_SECONDS = 120.0  # for a container, its verifier and the proof of isolation, beside the launch itself
SAYS = 800
NOTHING = Limits(
    cpu_seconds=5,
    wall_seconds=10,
    memory_bytes=1 << 28,
    pids=16,
    output_bytes=1 << 16,
    work_bytes=1 << 20,
    work_files=64,
)


@contextmanager
def opened_stages(bundle: Path, environment: bytes) -> Iterator[Launchers]:
    """The launchers of an environment, probed. Raises LauncherError, InfraError."""
    try:
        place: Mapping[str, Any] = json.loads(environment)
        is_contained = place["kind"] == DOCKER
    except (ValueError, KeyError, TypeError) as fault:
        raise LauncherError(f"environment file: {fault!r}") from fault
    if not is_contained:
        with opened(environment) as found:
            yield found
        return
    build, run, original = (ContainerLauncher(stage, bundle, place) for stage in ("build", "run", "original"))
    yield Launchers(build=build, run=run, original=lambda: original, enforced=run.probe())


class ContainerLauncher:
    """Launcher of one stage of the verifier's container. Thread-safe: each launch has a container of its own."""

    name = DOCKER

    def __init__(self, stage: str, bundle: Path, place: Mapping[str, Any]) -> None:
        self._stage = stage
        self._verifier = verifier_of(place, bundle)
        self._tests = bundle / "tests" if tests_digest(bundle) != place["tests"] else None

    def probe(self) -> tuple[str, ...]:
        """Have the verifier prove the five properties there; the limits that the kernel enforces. Raises LauncherError.

        What is launched for it need not exist: the proof comes before any launch.
        """
        result, enforced = self._launch(Request(program="/nothing", argv=(b"nothing",), env=(), limits=NOTHING))
        if result.fault is not None:
            raise LauncherError(result.fault)
        return enforced

    def run(self, request: Request) -> Result:
        """Launch in a fresh container. A container that tells nothing is a fault."""
        return self._launch(request)[0]

    def _launch(self, request: Request) -> tuple[Result, tuple[str, ...]]:
        with scratch("stage") as place:
            stage, submission = place / "stage", place / "submission"
            for folder in (stage, submission):
                folder.mkdir()
            self._lay(stage, request)
            shown = {STAGE: stage, SUBMISSION: submission, **({TESTS: self._tests} if self._tests else {})}
            try:
                told = self._told(shown, request.limits.wall_seconds + START_SECONDS)
                return decode_result(told["result"]), tuple(told["enforced"])
            except (InfraError, ValueError, KeyError, TypeError) as fault:
                return Result(fault=f"container: {fault}"), ()

    def _told(self, shown: Mapping[str, Path], seconds: float) -> Mapping[str, Any]:
        """What the container wrote. Raises InfraError, ValueError."""
        result = f"{OUT}/{os.fsdecode(RESULT)}"
        words = ["python3", "-s", "-S", "-B", f"{STAGE}/{PROGRAM}", self._stage, f"{STAGE}/request.json", result]
        ended, left = verify(self._verifier, words, shown, {"PYTHONPATH": f"{TESTS}/verify.pyz"}, seconds)
        told = next((e.content for e in left if e.path == RESULT and e.kind == "file"), None)
        if ended.status or told is None:
            said = bytes(ended.flow.stderr[-SAYS:]).decode("utf-8", "backslashreplace").strip()
            raise InfraError(f"it told nothing ({ended.status}): {said}")
        value: Mapping[str, Any] = json.loads(told)
        return value

    def close(self) -> None:
        """Nothing outlives a launch."""

    def _lay(self, folder: Path, request: Request) -> None:
        """The request with what it mounts, where the container finds it."""
        mounts = []
        for number, mount in enumerate(request.mounts):
            shutil.copytree(mount.source, folder / f"mount{number}", symlinks=True)
            mounts.append(Mount(source=f"{STAGE}/mount{number}", target=mount.target))
        value = {**encode_request(request), "mounts": [[m.source, m.target] for m in mounts]}
        (folder / "request.json").write_text(json.dumps(value), "ascii")
        program = resources.files("programsmith.payload") / "stage" / PROGRAM
        (folder / PROGRAM).write_bytes(program.read_bytes())
