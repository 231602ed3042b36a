"""What a killed process left with the engine, and its removal: containers, volumes and networks of dead owners.

In: our labels on what the engine holds. Out: nothing of an owner that is gone. What another machine or another pid
namespace marked is left alone: whether its owner lives cannot be told from here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from programsmith.errors import InfraError
from programsmith.sandboxes.docker_container import remove_container, remove_volume
from programsmith.sandboxes.engine import LABEL, OWNER, engine, talking
from programsmith.sandboxes.owners import lives, place


def reap() -> None:
    """Remove what dead owners left. What another process is removing meanwhile is no fault. Raises InfraError."""
    for remove, name in list(_orphans()):
        with contextlib.suppress(InfraError):
            remove(name)


def _orphans() -> Iterator[tuple[Callable[[str], None], str]]:
    """How to remove each orphan, and its name; containers come before what they use."""
    ours = {"label": f"{LABEL}={place()}"}
    with talking("looking for what dead processes left"):
        client = engine()
        containers = client.api.containers(all=True, filters=ours)
        volumes = client.api.volumes(filters=ours)["Volumes"] or ()
        networks = client.api.networks(filters=ours)
    for found in containers:
        if _is_orphan(found["Labels"]):
            yield remove_container, found["Id"]
    for found in volumes:
        if _is_orphan(found["Labels"]):
            yield remove_volume, found["Name"]
    for found in networks:
        if _is_orphan(found["Labels"]):
            yield _remove_network, found["Id"]


def _is_orphan(labels: dict[str, Any] | None) -> bool:
    owner = (labels or {}).get(OWNER)
    return owner is not None and not lives(owner)


def _remove_network(name: str) -> None:
    with talking(f"removing the network {name}"):
        engine().api.remove_network(name)
