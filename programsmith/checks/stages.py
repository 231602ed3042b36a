"""Programs of payload/probes/ in the build stage and the run stage of a bundle's own environment.

In: a scene and the files of a submission. Out: its built tree, what the built program does at the run stage, and the
grade that the real path gives. Raises InfraError where the environment itself does not work.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from programsmith.adversaries.cut import MOST, Choice, cut
from programsmith.bundle.controls import Files, program
from programsmith.bundle.grade import Grade, grade_all
from programsmith.bundle.render import read_payload
from programsmith.bundle.stages import opened_stages
from programsmith.checks.base import Scene
from programsmith.errors import InfraError
from programsmith.payload.table.form import digest
from programsmith.payload.verifier.build_step import Built, build
from programsmith.payload.verifier.environment import BASE_ENV, COMPILE, EXECUTABLE, SUBMISSION, case_env
from programsmith.payload.verifier.launcher import LauncherError, Mount, Request, Result
from programsmith.payload.verifier.launchers import Launchers
from programsmith.payload.verifier.limits import build_limits
from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.tree import tree_digest, write_tree

UNCHANGED = Choice()


@contextmanager
def launchers(scene: Scene) -> Iterator[Launchers]:
    """The launchers of the scene's environment, probed. Raises InfraError."""
    try:
        with opened_stages(scene.bundle, scene.environments.read_bytes()) as found:
            yield found
    except (LauncherError, OSError) as fault:
        raise InfraError(f"{scene.environments}: {fault}; run the block images again") from fault


def probe(scene: Scene, name: str, script: str = "") -> Files:
    """The probe `name` in the target's language; `script` of payload/probes/ runs first and calls build.sh itself."""
    files = program(scene.manifest.target_language, "probes", name)
    if not script:
        return files
    outer = FileEntry(COMPILE.encode(), "file", 0o755, read_payload("probes", script))
    renamed = [dataclasses.replace(e, path=b"build.sh") if e.path == COMPILE.encode() else e for e in files]
    return (*renamed, outer)


def built(scene: Scene, found: Launchers, files: Sequence[FileEntry]) -> Built:
    """The files after the build stage. Raises InfraError where the launcher could not build."""
    done = build(files, scene.sides.policy, found.build)
    if done.fault is not None or done.word is not None:
        raise InfraError(f"a probe did not build: {done.fault or done.reason}: {done.log[-400:]!r}")
    return done


def ran(scene: Scene, found: Launchers, tree: Sequence[FileEntry], argv: Sequence[bytes]) -> Result:
    """What the built program does at the run stage. Raises InfraError where the launcher could not run it."""
    folder = scene.scratch / "built"
    write_tree(str(folder), tree)
    result = found.run.run(
        Request(
            program=f"{SUBMISSION}/{EXECUTABLE}",
            argv=(scene.manifest.tool.encode(), *argv),
            env=case_env(),
            limits=build_limits(scene.sides.policy.build),
            mounts=(Mount(source=str(folder), target=SUBMISSION),),
        )
    )
    if result.fault is not None:
        raise InfraError(f"a probe could not be run: {result.fault}")
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A grade, the verifier's out folder, and whether bundle and submission are as before. `log` is the build's end."""

    grade: Grade
    out: Path
    is_same: bool

    @property
    def words(self) -> Mapping[str, str]:
        """The word of each held-out case."""
        found: Mapping[str, str] = self.grade.details["cases"]["held_out"]
        return found

    @property
    def log(self) -> bytes:
        """The end of what the build said."""
        return (self.out / "build.log").read_bytes()


def graded(
    scene: Scene,
    submissions: Mapping[str, Sequence[FileEntry]],
    cases: Sequence[GradedCase],
    choice: Choice = UNCHANGED,
) -> dict[str, Graded]:
    """Grade submissions in one verifier, on a few cases of the bundle, under the limits that `choice` replaces.

    The verifier is the bundle's own, and so is everything else that it grades by. Names of submissions are those of
    folders in the scratch folder. Raises InfraError.
    """
    bundle = scene.scratch / "few"
    sides = dataclasses.replace(scene.sides, held_out=tuple(cases))
    cut(sides, scene.bundle, dataclasses.replace(choice, count=len(cases), whole=False), bundle)
    places = {name: scene.scratch / name for name in submissions}
    for name, files in submissions.items():
        write_tree(str(places[name]), files)
    before, whole = {name: _digest(place) for name, place in places.items()}, _digest(bundle)
    outs = {scene.scratch / f"{name}.out": place for name, place in places.items()}
    grades = grade_all(bundle, outs, scene.environments)
    kept = _digest(bundle) == whole
    return {
        name: Graded(grade=found, out=out, is_same=kept and _digest(places[name]) == before[name])
        for name, found, out in zip(submissions, grades, outs, strict=True)
    }


def some(scene: Scene, most: int = MOST) -> tuple[GradedCase, ...]:
    """The first held-out cases by id; no two of them look the same to a program."""
    return distinct(scene.sides.held_out, most)


def distinct(cases: Iterable[GradedCase], most: int = MOST) -> tuple[GradedCase, ...]:
    """The first of the cases that a table can tell apart."""
    given = tuple(cases)
    names, base = sorted({name for c in given for name, _ in c.case.env}), dict(BASE_ENV)
    found: dict[str, GradedCase] = {}
    for case in given:
        if len(found) < most:
            found.setdefault(digest(case.case, names, base), case)
    return tuple(found.values())


def _digest(folder: Path) -> str:
    entries = [
        FileEntry(
            str(p.relative_to(folder)).encode("utf-8", "surrogateescape"), "file", p.lstat().st_mode, p.read_bytes()
        )
        for p in sorted(folder.rglob("*"))
        if p.is_file() and not p.is_symlink()
    ]
    return tree_digest(entries)
