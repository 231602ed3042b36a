"""The two images of a bundle: its Dockerfiles' contexts, built on a base that the engine has.

In: a bundle, a language's toolchain, the container rule. Out: images whose content was looked at, tagged by what they
are made of, so that an image is built once. A base is one that was made from the distribution's packages, else the
public one where somebody fetched it. Refused: an engine that has neither, with the commands that provide them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from programsmith.bundle.provided import ANSWERING
from programsmith.bundle.tree import COMPOSE, read_bundle
from programsmith.errors import InfraError, PrerequisiteError
from programsmith.payload.verifier.model import FileEntry, canonical
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.docker_archives import take
from programsmith.sandboxes.docker_container import Plan, create, remove_container
from programsmith.sandboxes.docker_images import build_image, content_digest, context_digest
from programsmith.sandboxes.docker_used import BUNDLE
from programsmith.sandboxes.engine import find_image
from programsmith.toolchains.bases import COMPILER, agent_tag, base_tag, command
from programsmith.toolchains.model import Toolchain

NO_NETWORK, HOST_NETWORK = "none", "host"
_CAPS = {"max_files": 1 << 18, "max_bytes": 1 << 32}


class Side(StrEnum):
    """Whose container."""

    AGENT = "agent"
    VERIFIER = "verifier"


CONTEXT = {Side.AGENT: "environment/", Side.VERIFIER: "tests/"}
SHOWN = {Side.AGENT: ("/app", "app/"), Side.VERIFIER: ("/tests", "")}
"""Where an image has its context's files: all of them, or those below a folder of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A base that the engine has. `whole` says that it holds every package that a bundle's Dockerfiles ask for.

    `agent` is what the agent's image is made on; `compiler` the image in which the launch server is compiled.
    """

    tag: str
    id: str
    whole: bool
    agent: str
    compiler: str


def find_base(target: Toolchain, suite: str) -> Base | None:
    """The base for a language; None where the engine has none. Raises PrerequisiteError (no engine), InfraError."""
    public, own = target.public_base, base_tag(target.language, suite)
    makings = ((own, agent_tag(target.language, suite), base_tag(COMPILER, suite), True), (public,) * 3 + (False,))
    for tag, agent, compiler, whole in makings:
        found = find_image(tag)
        if found is not None and all(map(find_image, (agent, compiler))):
            return Base(tag=tag, id=str(found.id), whole=whole, agent=agent, compiler=compiler)
    return None


def require_base(target: Toolchain, suite: str) -> Base:
    """The base for a language. Raises PrerequisiteError with what provides it, InfraError."""
    found = find_base(target, suite)
    if found is None:
        raise PrerequisiteError(
            f"sandbox: docker: the engine has no base image for {target.language}, or none to compile a "
            f"launch server in; run: {command(target.language)} "
            f"(from packages, as root) or: docker pull {target.public_base}"
        )
    return found


def image_tag(side: Side, digest: str) -> str:
    """The tag of a bundle's image, by the digest of its context and base."""
    return f"programsmith/{side}:{digest[:32]}"


def bundle_image(bundle: Path, side: Side, base: Base, *, more_packages: bool) -> str:
    """The id of one image, built if need be; with `more_packages` its Dockerfile asks for what no base holds.

    Raises InfraError.
    """
    files = context(bundle, side)
    arguments = build_arguments(side, base)
    bases = [str(image.id) for image in map(find_image, arguments.values()) if image]
    tag = image_tag(side, context_digest(files, bases))
    found = find_image(tag)
    if found is None:
        network = HOST_NETWORK if more_packages or not base.whole else NO_NETWORK
        found = build_image(files, tag, arguments, network, BUNDLE)
    return str(found.id)


def build_arguments(side: Side, base: Base) -> dict[str, str]:
    """The images that one side's Dockerfile is built on, by its argument."""
    return {"BASE": base.agent} if side is Side.AGENT else {"BASE": base.tag, "COMPILER": base.compiler}


def arguments_of(files: Mapping[str, FileEntry], base: Base) -> dict[str, dict[str, str]]:
    """The same for every Dockerfile of a bundle, by whose container it makes: who answers is on the verifier's."""
    rows = {str(side): build_arguments(side, base) for side in Side}
    return rows | ({ANSWERING: rows[Side.VERIFIER]} if COMPOSE in files else {})


def context(bundle: Path, side: Side) -> list[FileEntry]:
    """The build context of one side."""
    top = CONTEXT[side]
    found = read_bundle(bundle).items()
    return [FileEntry(p.removeprefix(top).encode(), "file", e.mode, e.content) for p, e in found if p.startswith(top)]


def examined(bundle: Path, side: Side, image: str, rule: Mapping[str, Any], profile: str) -> Image:
    """The image with its content digest, when it holds the bundle's files and no others. Raises InfraError."""
    found = find_image(image)
    if found is None:
        raise InfraError(f"Docker engine: the image {image} is gone; run again")
    place, below = SHOWN[side]
    wanted = {e.path.removeprefix(below.encode()): e.content for e in context(bundle, side)
              if e.path.startswith(below.encode())}  # fmt: skip
    shown = {e.path: e.content for e in _files(image, place) if e.kind != "dir"}
    if shown != wanted:
        odd = min({*shown.items()} ^ {*wanted.items()})[0]
        raise InfraError(f"the {side}'s image is not what the bundle holds: {odd!r} in {place} differs")
    digest = content_digest(found, [*rule["machine"], *rule["volatile"]])
    return Image(id=image, digest=digest, profile=profile)


def fingerprint(verifier: str, profile: str) -> str:
    """What tells a place in containers from another: what the verifier's image holds, and the system call policy."""
    policy = hashlib.sha256(canonical(profile)).hexdigest()
    return hashlib.sha256(canonical([verifier, policy])).hexdigest()


def _files(image: str, place: str) -> tuple[FileEntry, ...]:
    """What an image has in a place, read from a container that never starts."""
    container = create(Plan(image=image, command=["true"], workdir="/", memory_bytes=1 << 26, pids=8))
    try:
        return take(container, place, max_files=_CAPS["max_files"], max_bytes=_CAPS["max_bytes"])
    finally:
        remove_container(container)
