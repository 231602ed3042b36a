"""Images of bundles: when each was last used here, and the removal of those that nobody has used for long.

In: an image that a container is made of; a number of days. Out: a mark in the shared root; images of ours removed. One
that a container is made of, or another machine made, stays. A removed one is built again from its bundle.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from programsmith.sandboxes.engine import LABEL, engine, talking
from programsmith.sandboxes.owners import place
from programsmith.sandboxes.shared import shared_root

BUNDLE = f"{LABEL}.bundle"
"""The label of an image of a bundle; bases have none and stay."""
DAY = 86400.0
_ID = "sha256:"


def _mark(image: str) -> Path:
    return shared_root() / "images" / image.removeprefix(_ID)


def used(image: str) -> None:
    """Note that an image is used now, by its id; anything else is not noted."""
    if image.startswith(_ID):
        mark = _mark(image)
        mark.parent.mkdir(mode=0o755, exist_ok=True)
        mark.touch()


def reap_images(days: float, needed: Collection[str] = ()) -> int:
    """Remove images of bundles that were made here and not used for `days`, but for those `needed`, by id; how many.

    Raises PrerequisiteError where there is no engine, InfraError.
    """
    from docker.errors import APIError

    since, gone = time.time() - days * DAY, 0
    with talking("looking for images that nobody uses"):
        api = engine().api
        for found in api.images(filters={"label": [f"{LABEL}={place()}", BUNDLE]}):
            if found["Id"] in needed or _last(found) > since:
                continue
            with contextlib.suppress(APIError):  # a container is made of it, or another process removes it
                for name in found["RepoTags"] or [found["Id"]]:
                    api.remove_image(found["Id"] if name.startswith("<none>") else name)
                _mark(found["Id"]).unlink(missing_ok=True)
                gone += 1
    return gone


def _last(found: Mapping[str, Any]) -> float:
    """When an image was used last, in seconds since the epoch; when it was made, where nobody noted a use."""
    try:
        return _mark(found["Id"]).stat().st_mtime
    except FileNotFoundError:
        return float(found["Created"])
