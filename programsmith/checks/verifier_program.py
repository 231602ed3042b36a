"""The programs that a bundle carries are this installation's, byte for byte.

So no bundle can bring a verifier of its own with a defence left out, whatever its manifest says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from programsmith.bundle.answers import PROGRAM
from programsmith.bundle.render import read_payload, server_sources
from programsmith.bundle.tree import ANSWERS
from programsmith.bundle.zipapp import answer_pyz, check_pyz, verify_pyz
from programsmith.checks.base import Row, Scene, first

PROGRAMS: Mapping[str, Callable[[], bytes]] = {
    "tests/verify.pyz": verify_pyz,
    "environment/app/check": check_pyz,
    "tests/test.sh": partial(read_payload, "harbor", "test.sh"),
    "solution/solve.sh": partial(read_payload, "harbor", "solve.sh"),
    "solution/open.py": partial(read_payload, "solution", "open.py"),
}


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Compare each."""
    wanted = {path: made() for path, made in PROGRAMS.items()} | server_sources()
    if scene.asked:
        wanted |= {PROGRAM: answer_pyz()} | server_sources(ANSWERS)
    found = [
        f"{path}: wanted the program of this installation, got another"
        for path, content in wanted.items()
        if path not in scene.files or scene.files[path].content != content
    ]
    return Row(
        passed=not found,
        reason=first(
            found, f"{len(PROGRAMS)} programs and the launch server's sources are this installation's", "program"
        ),
        evidence={"programs": sorted(PROGRAMS), "faults": found},
    )
