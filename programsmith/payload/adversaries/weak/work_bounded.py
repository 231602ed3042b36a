"""What a case may write has no bound of its own."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

from programsmith.payload.adversaries.weak.swap import swap
from programsmith.payload.verifier import uid
from programsmith.payload.verifier.environment import SUBMISSION
from programsmith.payload.verifier.isolated import IsolatedLauncher
from programsmith.payload.verifier.wire import Order

_BYTES, _ENTRIES = 1 << 30, 1 << 16


def _unbound(former: Callable[..., Order], *given: Any) -> Order:
    return dataclasses.replace(former(*given), work_bytes=_BYTES, work_files=_ENTRIES)


def _elsewhere(former: Callable[..., None], launcher: uid.UidLauncher, config: dict[str, Any]) -> None:
    """In a container the places of cases are file systems of their own: others, on its disk."""
    places = config["places"]
    if SUBMISSION not in places[0]:
        places = [{at: f"/tmp/roomy{n}{at}" for at in one} for n, one in enumerate(places)]  # noqa: S108 - inside
        for place in (place for one in places for place in one.values()):
            os.makedirs(place, exist_ok=True)
    former(launcher, {**config, "places": places})


def remove() -> None:
    """Make the work directory large."""
    swap(IsolatedLauncher, "_order", _unbound)
    swap(uid.UidLauncher, "__init__", _elsewhere)
