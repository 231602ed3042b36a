"""Mutants of the verifier, and the submissions of a bundle that tell each from the real one.

In: a bundle, its environment, a mutant. Out: how its verdicts differ from those that the submissions must get. A mutant
is an edit of verify.pyz: one module of payload/adversaries/weak/ goes in and runs first. A mutant that no submission
tells apart would be a verifier that grades wrongly unseen.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from programsmith.adversaries.weaken import weak_program
from programsmith.bundle.grade import grade, grade_all
from programsmith.bundle.sides import Sides
from programsmith.bundle.submissions import SICK, Submission, difference, scale_of, sick, verdict
from programsmith.errors import InfraError
from programsmith.payload.verifier.tree import write_tree

Details = Mapping[str, Any]
MUTANTS: Mapping[str, tuple[str, str]] = {
    "accepts_all": ("cases_judged", "null_silent"),
    "skips_exit_code": ("exit_code_counts", "ends_otherwise"),
    "skips_files": ("files_count", "leaves_a_file"),
    "compares_a_prefix": ("whole_output", "says_less"),
    "missing_passes": ("missing_fails", "never_starts"),
    "infra_passes": ("infra_never_scores", "sick_host"),
    "ignores_timeouts": ("time_counts", "burns"),
    "strips_nul": ("every_byte_counts", "says_nul"),
    "folds_case": ("letter_case_counts", "says_in_other_case"),
}
"""The module that makes a verifier the mutant, and a submission that must tell."""


def mutate(bundle: Path, mutant: str, out: Path) -> Path:
    """Copy the verifier's side of `bundle` to `out` with the mutant for a verifier; return `out`."""
    shutil.copytree(bundle / "tests", out / "tests")
    verifier = out / "tests" / "verify.pyz"
    verifier.write_bytes(weak_program(verifier.read_bytes(), MUTANTS[mutant][0]))
    return out


def differences(
    bundle: Path,
    sides: Sides,
    wanted: Sequence[Submission],
    environment: Path,
    scratch: Path,
    secret: bytes | None = None,
) -> dict[str, str]:
    """What the bundle's verifier gives otherwise than each submission must get, by id; empty where it is right.

    `sides` are the bundle's cases in clear, `secret` is its owner's. Raises InfraError where a sound place gives no
    grade.
    """
    scratch.mkdir()
    places = {scratch / f"{one.id}.out": _laid(one, scratch) for one in wanted if one.place != SICK}
    grades = grade_all(bundle, places, environment, secret)
    got: dict[str, Details | None] = {out.stem: one.details for out, one in zip(places, grades, strict=True)}
    place = scratch / "sick.json"
    for one in wanted:
        if one.place == SICK:
            place.write_bytes(sick(environment.read_bytes()))
            try:
                got[one.id] = grade(bundle, _laid(one, scratch), place, scratch / f"{one.id}.out", secret).details
            except InfraError:
                got[one.id] = None
    scale = scale_of(sides)
    found = {one.id: difference(verdict(one, scale), got[one.id]) for one in wanted}
    return {name: fault for name, fault in found.items() if fault}


def _laid(one: Submission, scratch: Path) -> Path:
    folder = scratch / one.id
    write_tree(str(folder), one.files)
    return folder
