"""What is provided of a built environment in a registry: cache/<name>/pushed.json, about one bundle.

In: a spec's folder. Out: what was pushed, by the digests that the registry told. It is void as soon as the bundle is
another one, or was proven in other images.
"""

from __future__ import annotations

import os
from typing import Any

from programsmith.bundle.provided import Provided
from programsmith.compiler.paths import Folder, part
from programsmith.records import codec


def pushed(folder: Folder) -> dict[str, Any]:
    """`bundle` (its tree digest), `fingerprint` (of the containers that it was proven in) and `provided`.

    Nothing where nothing was pushed, or the file cannot be read.
    """
    try:
        found = codec.load(folder.pushed, dict[str, Any])
        codec.decode(Provided, found["provided"])
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}
    return found


def keep(folder: Folder, bundle: str, fingerprint: str, given: Provided) -> None:
    """Keep it, in place of what was pushed before. Raises OSError."""
    made = part(folder.pushed)
    codec.dump(made, {"bundle": bundle, "fingerprint": fingerprint, "provided": codec.encode(given)})
    os.replace(made, folder.pushed)
