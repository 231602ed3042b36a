"""Where a built environment was proven besides its own build: cache/<name>/proven.json maps a backend to its proof.

In: a spec's folder. Out: the proofs. A proof names the bundle that it is about by the digest that the engine knows it
by, so it is void as soon as the bundle is another one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from programsmith.compiler.paths import Folder, part
from programsmith.records import codec

BUNDLE = "r/bundle/"
Proofs = Mapping[str, Mapping[str, str]]
"""Backend to `bundle` (its digest) and `fingerprint` (of the place)."""


def proofs(folder: Folder) -> dict[str, dict[str, str]]:
    """The proofs; a file that cannot be read proves nothing."""
    try:
        return codec.load(folder.proven, dict[str, dict[str, str]])
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}


def keep(folder: Folder, kind: str, bundle: str, fingerprint: str) -> None:
    """Add one, in place of an earlier one of the same backend. Raises OSError."""
    known = {**proofs(folder), kind: {"bundle": bundle, "fingerprint": fingerprint}}
    made = part(folder.proven)
    codec.dump(made, known)
    os.replace(made, folder.proven)
