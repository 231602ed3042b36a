"""Where a built environment was proven besides its own build: cache/<name>/proven.json maps a backend to its proof.

In: a spec's folder, what decides a proof today. Out: the proofs that stand. A proof names the bundle that it is about
by the digest that the engine knows it by, and what decided it: rules, payload and code of the blocks that prove. It is
void as soon as either is another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from programsmith.compiler.paths import Folder, part
from programsmith.compiler.plan import Step
from programsmith.compiler.slices import Blocks, RuleFiles, declared, json_digest
from programsmith.records import codec

BUNDLE, PLACE, CONTROLS = "r/bundle/", "images", "sanity"
PROVING = (PLACE, CONTROLS, "static")
"""What is run again to prove, in this order: the place, the controls, the checks."""
Proofs = dict[str, dict[str, str]]
"""Backend to `bundle` (its digest), `fingerprint` (of the place) and `decided` (by what)."""


def decided(steps: Sequence[Step], rules: RuleFiles, blocks: Blocks) -> str:
    """What decides a proof besides the bundle, as one digest."""
    asked = {s.block: declared(replace(s, spec=()), {}, rules, blocks) for s in steps if s.block in PROVING}
    return json_digest(asked)


def proofs(folder: Folder, today: Callable[[], str]) -> Proofs:
    """The proofs that stand by what decides one `today`; a file that cannot be read proves nothing."""
    known = _all(folder)
    now = today() if known else ""
    return {kind: proof for kind, proof in known.items() if proof.get("decided") == now}


def _all(folder: Folder) -> Proofs:
    try:
        return codec.load(folder.proven, dict[str, dict[str, str]])
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return {}


def keep(folder: Folder, kind: str, proof: dict[str, str]) -> None:
    """Add one, in place of an earlier one of the same backend. Raises OSError."""
    known = {**_all(folder), kind: proof}
    made = part(folder.proven)
    codec.dump(made, known)
    os.replace(made, folder.proven)
