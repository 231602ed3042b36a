"""`export registry=HOST/NAME`: the images of built environments in a registry, and their digests in dist/.

In: specs that are built, up to date and proven in containers; a repository. Out: both images and the bases that their
Dockerfiles name, pushed; pushed.json, and by a build of what reads it the exported task. What the registry has is not
sent again. Nothing is written before the registry has told every digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from programsmith.bundle import images
from programsmith.bundle.images import Base, Side
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.provided import Provided, public_base
from programsmith.bundle.registry import is_there, push_all
from programsmith.bundle.tree import read_bundle
from programsmith.compiler import pushed
from programsmith.compiler.compile import Compiler
from programsmith.compiler.events import Event, Kind
from programsmith.compiler.faults import Caught
from programsmith.compiler.finished import built, rebuilt
from programsmith.compiler.lock import check_premises, held
from programsmith.compiler.paths import Project
from programsmith.compiler.verbs.reading import emit
from programsmith.compiler.view import Plain
from programsmith.errors import Exit, InputError
from programsmith.records import codec
from programsmith.records.verdict import Verdict
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes import docker_seccomp
from programsmith.sandboxes.base import DOCKER, Image
from programsmith.sandboxes.docker_registry import probe
from programsmith.toolchains.load import toolchains

WORKERS = 2
_REMEDY = "run: programsmith prove sandbox=docker spec="


def push_specs(compiler: Compiler, project: Project, files: Sequence[Path], place: str) -> Exit:
    """Push the images of each spec and write their digests; one line for each image. Errors end here."""
    check_premises(project)
    codes, done = set(), []
    for path in files:
        with Caught(project.folder(path.stem).root / "logs", path.stem) as caught:
            given = _pushed(compiler, project, path, place)
            done.append(path.stem)
            for side in Side:
                emit(f"{path.stem}  registry  {side}  {given.images[side]}")
        codes.add(caught.code or Exit.OK)
    return Exit.worst(codes | {rebuilt(compiler, project, done, WORKERS)})


def _pushed(compiler: Compiler, project: Project, path: Path, place: str) -> Provided:
    """What the registry has of one spec now. Raises InputError, PrerequisiteError, InfraError."""
    folder, verdict = project.folder(path.stem), built(compiler, project, path, "export")
    fingerprint = _proven(path.stem, verdict)
    probe(place)
    with held(folder):
        top = folder.revision(verdict.revision)
        bundle, manifest = top / "bundle", codec.load(top / "manifest.json", Manifest)
        known = pushed.pushed(folder)
        if (known.get("bundle"), known.get("fingerprint")) == (manifest.tree, fingerprint):
            given = codec.decode(Provided, known["provided"])
            if is_there(given, place):
                return given
        base, sides = _images(project, bundle, manifest)
        if images.fingerprint(sides[Side.VERIFIER].digest, sides[Side.VERIFIER].profile) != fingerprint:
            raise InputError(
                f"export: registry=: {path.stem} was proven in other images than this engine makes now; "
                f"{_REMEDY}{path.stem}"
            )
        files = read_bundle(bundle)
        arguments = images.arguments_of(files, base)
        given = push_all(path.stem, place, public_base(files), arguments, sides, lambda text: _say(path.stem, text))
        pushed.keep(folder, manifest.tree, fingerprint, given)
        return given


def _say(name: str, text: str) -> None:
    Plain().show(Event(kind=Kind.SAID, spec=name, text=text))


def _proven(name: str, verdict: Verdict) -> str:
    """The fingerprint of the containers that the spec was proven in. Raises InputError where it was in none."""
    found = {place["kind"]: place["fingerprint"] for place in verdict.environments}
    if DOCKER not in found:
        raise InputError(
            f"export: registry=: {name} was not proven in containers: nobody tried its images; {_REMEDY}{name}"
        )
    return found[DOCKER]


def _images(project: Project, bundle: Path, manifest: Manifest) -> tuple[Base, dict[Side, Image]]:
    """The images of the bundle, built if need be, and what they are made on."""
    rules = Rulebook(project.root).load
    rule, profile = rules("containers"), docker_seccomp.text(rules("seccomp"))
    base = images.require_base(toolchains(rules("toolchains"))[manifest.target_language], rule["suite"])
    more = manifest.more_packages
    made = {side: images.bundle_image(bundle, side, base, more_packages=more) for side in Side}
    return base, {side: images.examined(bundle, side, image, rule, profile) for side, image in made.items()}
