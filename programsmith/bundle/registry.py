"""A bundle's images in a registry: both containers', and what their Dockerfiles are built on.

In: images that the engine has, a repository. Out: what is provided, by the digests that the registry told, once it told
all of them. A push that breaks off leaves in the registry what arrived; the next one sends the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from programsmith.bundle.images import Side
from programsmith.bundle.provided import Provided
from programsmith.errors import InfraError
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.docker_registry import has, push
from programsmith.sandboxes.engine import find_image

Arguments = Mapping[str, Mapping[str, str]]
Say = Callable[[str], None]
DIGITS = 16
_ODD = re.compile(r"[^A-Za-z0-9_.-]")
_ID = "sha256:"


def push_all(
    task: str, place: str, public: str, arguments: Arguments, sides: Mapping[Side, Image], say: Say
) -> Provided:
    """Push all that belongs to the bundle of `task`, whose Dockerfiles name `public`. Raises InfraError.

    `arguments` are what each Dockerfile is built on.
    """
    names = {tag for row in arguments.values() for tag in row.values()}
    wanted = {str(side): (image.id, f"{task}-{side}-{image.digest[:DIGITS]}") for side, image in sides.items()}
    wanted |= {name: _base(name) for name in sorted(names)}
    refs: dict[str, str] = {}
    for name, (image, tag) in wanted.items():
        refs[name] = push(image, place, tag)
        say(f"{name}: {refs[name]}")
    return Provided(
        public=public,
        bases={name: {k: refs[tag] for k, tag in row.items()} for name, row in arguments.items()},
        images={str(side): refs[str(side)] for side in Side},
    )


def is_there(given: Provided, place: str) -> bool:
    """Whether the registry has under `place` all that is provided."""
    references = {*given.images.values(), *(name for row in given.bases.values() for name in row.values())}
    return all(name.startswith(f"{place}@") and has(name) for name in sorted(references))


def _base(name: str) -> tuple[str, str]:
    """Id and tag of a base: its own name, and enough of its id to tell it from one that is made later."""
    found: Any = find_image(name)
    if found is None:
        raise InfraError(f"Docker engine: the base {name} is gone; make it again and run again")
    image = str(found.id)
    return image, f"{_ODD.sub('-', name)}-{image.removeprefix(_ID)[:DIGITS]}"
