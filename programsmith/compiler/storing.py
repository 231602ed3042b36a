"""The verbs of store and ledger: `gc` removes what nothing needs, `settle` closes what nobody saw end.

In: specs, options. Out: what was done, as JSON values. Refuses a reservation that is not held, an amount below zero and
a settling while the spec is built.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from programsmith.compiler.lock import held
from programsmith.compiler.paths import Project
from programsmith.compiler.storage import store_root
from programsmith.errors import InputError, PrerequisiteError
from programsmith.records import codec
from programsmith.sandboxes.docker_used import reap_images
from programsmith.sandboxes.owners import place
from programsmith.spec.find import find_specs
from programsmith.store.directory import Directory
from programsmith.store.garbage import collected
from programsmith.store.leases import Leases
from programsmith.store.ledger import Ledger, account_of
from programsmith.store.roots import Rooted

DAY = 86400.0
RECORDS = ("environments.json", "places.json")
IMAGE = re.compile("sha256:[0-9a-f]{64}")


def collect(project: Project, days: float, forget: float = math.inf) -> dict[str, Any]:
    """Remove from the store what no spec of any project used and nobody used for `days`; images unused as long.

    Projects for which no build used the store for `forget` days do not count. Raises InputError, InfraError,
    PrerequisiteError.
    """
    for name, value in (("--days", days), ("--forget", forget)):
        if not value >= 0:
            raise InputError(f"{name} {value:g}: wanted a number of days from 0 up")
    root, now = store_root(project), time.time()
    live = {path.stem for path in find_specs(project.root)}
    own = os.path.realpath(project.root), place()

    def over(one: Rooted) -> bool:
        """Whether it is a spec of ours that is gone, or of anybody's that nobody built for so long."""
        gone = (one.root.project, one.root.machine) == own and not os.path.exists(one.root.file)
        return gone or one.seconds < now - forget * DAY

    leases = Leases(root / "leases")
    found = asdict(collected(Directory(root), leases, live=live, since=now - days * DAY, now=now, over=over))
    return {**found, "images": _images(project, days)}


def _images(project: Project, days: float) -> int:
    """Images of bundles that are gone now; none where there is no engine. Those of this project's specs stay."""
    records = (path for name in RECORDS for path in project.cache.glob(f"*/r*/{name}"))
    needed = {image for path in records for image in IMAGE.findall(path.read_text("utf-8", "replace"))}
    try:
        return reap_images(days, needed)
    except PrerequisiteError:
        return 0


def reservations(project: Project, files: Sequence[Path]) -> dict[str, Any]:
    """What each spec spent and what is still reserved; nothing is held. Raises InfraError on a damaged ledger."""
    accounts = {path.stem: account_of(Ledger(project.folder(path.stem).ledger).look()) for path in files}
    return {
        name: {"spent": float(account.spent), "held": [codec.encode(event) for event in account.held]}
        for name, account in accounts.items()
    }


def settle(project: Project, files: Sequence[Path], identity: str, usd: float) -> dict[str, Any]:
    """Close one reservation of one spec with what the call took, in dollars. Raises InputError, InfraError."""
    if len(files) != 1:
        raise InputError(f"settle: a reservation belongs to one spec, got {len(files)}; add spec=NAME")
    if not (math.isfinite(usd) and usd >= 0):
        raise InputError(f"settle: --usd {usd}: wanted dollars from 0 up")
    folder = project.folder(files[0].stem)
    with held(folder):
        closed: dict[str, Any] = codec.encode(Ledger(folder.ledger).settle(identity, usd, time.time()))
    return closed
