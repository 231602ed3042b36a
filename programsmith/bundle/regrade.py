"""An exported task graded once more in this host's sandbox: its solution, nothing at all, its sealed submissions.

In: the files of an export, its owner's secret where he sealed it, the rules, a folder to work in. Out: both grades, and
what each submission whose verdict the task tells got otherwise. The program that grades is this installation's, never
the one that lies in the task: nothing of the task runs outside of a sandbox. Refuses what this host has no toolchain or
no isolation for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from programsmith.bundle.grade import Grade, grade, grade_all
from programsmith.bundle.render import allowed
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.submissions import (
    SEALED,
    SOUND,
    Scale,
    Submission,
    difference,
    read_submissions,
    scale_of,
    sick,
    verdict,
)
from programsmith.bundle.zipapp import verify_pyz
from programsmith.errors import InfraError, InputError, boundary
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.views import encode_view
from programsmith.payload.verifier.wire import check_paths
from programsmith.sandboxes import launcher_config
from programsmith.sandboxes.base import BUBBLEWRAP
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import build_view, original_view, run_view

SOLUTION, NOTHING = "solution", "nop"
WANTED = {SOLUTION: 1.0, NOTHING: 0.0}
"""What each must get."""
_PROGRAM = re.compile(r"/(usr|bin|sbin|lib)(/[A-Za-z0-9._+-]+)+")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """Both grades, and of every sealed submission what it got otherwise than it must; empty where nothing."""

    grades: Mapping[str, Grade]
    submissions: Mapping[str, str]


def regrade(
    bundle: Path, proof: Mapping[str, Any], rules: Callable[[str], Any], folder: Path, secret: bytes | None
) -> Regraded:
    """Grade all; `bundle` is a copy that may be changed. Raises InputError, PrerequisiteError, InfraError."""
    (bundle / "tests" / "verify.pyz").write_bytes(verify_pyz())
    sides = read_sides(bundle, secret)
    environment = folder / "environment.json"
    environment.write_text(json.dumps(_environment(sides.policy.languages, allowed(sides.all), proof, rules)), "ascii")
    handed_in = {SOLUTION: solution(bundle, secret), NOTHING: ()}
    grades = grade_all(bundle, _laid(folder, handed_in), environment, secret)
    own = read_submissions(bundle, secret)
    return Regraded(
        grades=dict(zip(handed_in, grades, strict=True)),
        submissions=_faults(own, scale_of(sides), _Place(bundle, folder, environment, secret)),
    )


class _Place(NamedTuple):
    """Where submissions are graded."""

    bundle: Path
    folder: Path
    environment: Path
    secret: bytes | None


def _faults(own: Sequence[Submission], scale: Scale, at: _Place) -> dict[str, str]:
    """What each submission got otherwise than it must. Where nothing can start there must be no grade."""
    sound = [one for one in own if one.place == SOUND]
    places = _laid(at.folder, {f"own{n}": one.files for n, one in enumerate(sound)})
    grades = grade_all(at.bundle, places, at.environment, at.secret)
    found = {one.id: difference(verdict(one, scale), got.details) for one, got in zip(sound, grades, strict=True)}
    ill = at.folder / "sick.json"
    ill.write_bytes(sick(at.environment.read_bytes()))
    for number, one in enumerate(one for one in own if one.place != SOUND):
        ((out, place),) = _laid(at.folder, {f"sick{number}": one.files}).items()
        try:
            details = grade(at.bundle, place, ill, out, at.secret).details
        except InfraError:
            details = None
        found[one.id] = difference(verdict(one, scale), details)
    return found


def _laid(folder: Path, handed_in: Mapping[str, Sequence[FileEntry]]) -> dict[Path, Path]:
    """Folders of submissions by the folder for their grade. Raises InputError for a path that leads out of one."""
    places: dict[Path, Path] = {}
    for name, files in handed_in.items():
        with boundary(InputError, f"a submission that is sealed in {SEALED}", ValueError):
            check_paths(files)
        write_tree(str(folder / name), files)
        places[folder / f"{name}.out"] = folder / name
    return places


def _environment(
    languages: tuple[str, ...], programs: tuple[str, ...], proof: Mapping[str, Any], rules: Callable[[str], Any]
) -> dict[str, Any]:
    """Views of this host, as the block `images` makes them. Raises InputError, PrerequisiteError."""
    known, packages = toolchains(rules("toolchains")), tuple(proof["build_packages"])
    origin = proof["source"]["language"]
    if len(languages) != 1 or {*languages, origin} - set(known):
        odd_one = f"tests/policy.json and provenance.json: wanted one language each of {', '.join(sorted(known))}"
        raise InputError(f"{odd_one}, got {languages} and {origin!r}")
    odd = [p for p in programs if not _PROGRAM.fullmatch(p)] + [p for p in packages if not _PACKAGE.fullmatch(p)]
    if odd:
        raise InputError(f"wanted programs below /usr and names of packages, got {odd[0]!r}")
    target = known[languages[0]]
    value = {
        "kind": BUBBLEWRAP,
        "fingerprint": "",
        "build": launcher_config(build_view(target, packages=packages)),
        "run": launcher_config(run_view(target, programs, packages)),
    }
    if origin != languages[0]:
        value["original"] = encode_view(original_view(known[origin], target, programs))
    return value
