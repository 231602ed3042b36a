"""Limits hold over a build too: time, CPU, memory, processes, output, what it writes.

The bundle's own verifier builds, under the rule's small limits, submissions each of which takes more of one thing and
then builds; each must end as a failed build. One that takes nothing must not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from programsmith.adversaries.cut import Choice
from programsmith.bundle.controls import Files
from programsmith.bundle.render import read_payload
from programsmith.checks.attempts import NOTHING, at
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.stages import graded, some
from programsmith.payload.verifier.environment import COMPILE, EXECUTABLE
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.words import BuildWord

WAITS, SECONDS = "waits", "wall_seconds"
WAYS = {
    "says": "says more",
    "fills": "writes more bytes",
    "litters": "writes more files",
    "burns": "uses more CPU time",
    "grows": "uses more memory",
    "forks": "starts more processes",
    WAITS: "takes more time",
}
BUILDS = f"echo >{EXECUTABLE}\n".encode()  # whatever it is, it was built


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Build each; the one that waits beside the others, whose time the clock of no host cuts short."""
    patient = {name: value for name, value in parameters.items() if name != SECONDS}
    others = [NOTHING, *(way for way in WAYS if way != WAITS)]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_built, at(scene, WAITS), [WAITS], parameters)
        words = {**_built(scene, others, patient), **waiting.result()}
    found = [
        f"tests/verify.pyz: wanted no build that {means}, got {words[way]}"
        for way, means in WAYS.items()
        if words[way] != BuildWord.BUILD_FAIL
    ]
    if words[NOTHING] == BuildWord.BUILD_FAIL:
        found.append(f"tests/verify.pyz: wanted a build that takes next to nothing, got {words[NOTHING]}")
    reason = first(found, f"{len(WAYS)} limits hold over a build", "build limits")
    return Row(passed=not found, reason=reason, evidence={"faults": found, "words": words})


def _built(scene: Scene, ways: Sequence[str], building: Mapping[str, Any]) -> dict[str, str]:
    """The word of a submission that builds in each of the ways."""
    got = graded(scene, {way: submission(way) for way in ways}, some(scene, 1), Choice(building=building))
    return {way: one.grade.word for way, one in got.items()}


def submission(way: str) -> Files:
    """Takes more in that way, then builds."""
    script = read_payload("adversaries", "build", "any", "overdoes.sh")
    return (
        FileEntry(COMPILE.encode(), "file", 0o755, script),
        FileEntry(b"build.sh", "file", 0o755, BUILDS),
        FileEntry(b"way.txt", content=way.encode()),
    )
