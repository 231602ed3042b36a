"""An exported task graded once more in this host's sandbox: its sealed solution and nothing at all.

In: the files of an export, its owner's secret where he sealed it, the rules, a folder to work in. Out: both grades. The
program that grades is this installation's, never the one that lies in the task: nothing of the task runs outside of a
sandbox. Refuses what this host has no toolchain or no isolation for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from programsmith.bundle.grade import Grade, grade_all
from programsmith.bundle.render import allowed
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.zipapp import verify_pyz
from programsmith.errors import InputError
from programsmith.payload.verifier.tree import write_tree
from programsmith.sandboxes import launcher_config
from programsmith.sandboxes.base import BUBBLEWRAP
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import build_view, run_view

SOLUTION, NOTHING = "solution", "nop"
WANTED = {SOLUTION: 1.0, NOTHING: 0.0}
"""What each must get."""
_PROGRAM = re.compile(r"/(usr|bin|sbin|lib)(/[A-Za-z0-9._+-]+)+")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def regrade(
    bundle: Path, proof: Mapping[str, Any], rules: Callable[[str], Any], folder: Path, secret: bytes | None
) -> dict[str, Grade]:
    """Grade both; `bundle` is a copy that may be changed. Raises InputError, PrerequisiteError, InfraError."""
    (bundle / "tests" / "verify.pyz").write_bytes(verify_pyz())
    sides = read_sides(bundle, secret)
    submissions = {SOLUTION: solution(bundle, secret), NOTHING: ()}
    environment = folder / "environment.json"
    environment.write_text(json.dumps(_environment(sides.policy.languages, allowed(sides.all), proof, rules)), "ascii")
    places: dict[Path, Path] = {}
    for name, files in submissions.items():
        write_tree(str(folder / name), files)
        places[folder / f"{name}.out"] = folder / name
    return dict(zip(submissions, grade_all(bundle, places, environment, secret), strict=True))


def _environment(
    languages: tuple[str, ...], programs: tuple[str, ...], proof: Mapping[str, Any], rules: Callable[[str], Any]
) -> dict[str, Any]:
    """Views of this host, as the block `images` makes them. Raises InputError, PrerequisiteError."""
    known, packages = toolchains(rules("toolchains")), tuple(proof["build_packages"])
    if len(languages) != 1 or languages[0] not in known:
        raise InputError(f"tests/policy.json: wanted one language of {', '.join(sorted(known))}, got {languages}")
    odd = [p for p in programs if not _PROGRAM.fullmatch(p)] + [p for p in packages if not _PACKAGE.fullmatch(p)]
    if odd:
        raise InputError(f"wanted programs below /usr and names of packages, got {odd[0]!r}")
    target = known[languages[0]]
    return {
        "kind": BUBBLEWRAP,
        "fingerprint": "",
        "build": launcher_config(build_view(target, packages=packages)),
        "run": launcher_config(run_view(target, programs, packages)),
    }
