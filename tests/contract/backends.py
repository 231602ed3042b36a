"""The backends that the sandbox contract holds for, each with what it makes and what a killed process would leave."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from programsmith.errors import PrerequisiteError
from programsmith.payload.verifier.launcher import View
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.base import Image
from programsmith.sandboxes.config import require_namespaces
from programsmith.sandboxes.owners import prefix
from programsmith.sandboxes.shared import shared_root
from programsmith.sandboxes.view import list_view
from programsmith.toolchains.bases import base_tag, command

NOBODY = 4194305  # above every process id


class Backend(Protocol):
    """One backend."""

    def root(self) -> View | Image:
        """A root that holds Python and cat."""

    def traces(self) -> set[str]:
        """What this process's sandboxes have on the host or with the engine."""

    def plant(self) -> Callable[[], bool]:
        """Leave what a killed process leaves; says afterwards whether it is still there."""


class Embedded:
    def root(self) -> View:
        require_namespaces()
        return list_view(programs=["python3", "cat"])

    def traces(self) -> set[str]:
        return {p.name for p in shared_root().glob(f"{prefix('workspace')}*")}

    def plant(self) -> Callable[[], bool]:
        left = shared_root() / prefix("workspace").replace(f"-{os.getpid()}-", f"-{NOBODY}-")
        (left / "w" / "d").mkdir(parents=True)
        return left.exists


class Docker:
    def root(self) -> Image:
        return Image(id=str(base_image("python").id))

    def traces(self) -> set[str]:
        from programsmith.sandboxes.engine import OWNER, engine, labels

        ours = {"label": f"{OWNER}={labels()[OWNER]}"}
        client = engine()
        found = {c["Id"] for c in client.api.containers(all=True, filters=ours)}
        return found | {v["Name"] for v in client.api.volumes(filters=ours)["Volumes"] or ()}

    def plant(self) -> Callable[[], bool]:
        from programsmith.sandboxes.engine import LABEL, OWNER, engine
        from programsmith.sandboxes.owners import place

        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        labels = {LABEL: place(), OWNER: f"{boot}:{NOBODY}:1"}
        client = engine()
        volume = client.volumes.create(name=uuid.uuid4().hex, labels=labels).name
        container = client.containers.create(
            self.root().id, ["true"], labels=labels, network_mode="none", volumes={volume: {"bind": "/x", "mode": "rw"}}
        ).id
        network = _network(labels)

        def left() -> bool:
            containers = {c["Id"] for c in client.api.containers(all=True)}
            volumes = {v["Name"] for v in client.api.volumes()["Volumes"] or ()}
            return bool({container, volume, network} & {*containers, *volumes, *(n.id for n in client.networks.list())})

        return left


def _network(labels: dict[str, str]) -> str:
    """A network of ours; none where this host's kernel makes no bridges."""
    from docker.errors import APIError

    from programsmith.sandboxes.engine import engine

    with contextlib.suppress(APIError):
        return str(engine().networks.create(uuid.uuid4().hex, driver="bridge", internal=True, labels=labels).id)
    return ""


def base_image(language: str, of=base_tag):  # type: ignore[no-untyped-def]
    """A base of a language; skips with the command that provides it where there is no engine or no such base."""
    from programsmith.sandboxes.docker_images import require_image

    try:
        return require_image(of(language, Rulebook(None).load("containers")["suite"]), command(language))
    except PrerequisiteError as fault:
        pytest.skip(str(fault))


BACKENDS = [
    pytest.param(Embedded(), id="bubblewrap"),
    pytest.param(Docker(), id="docker", marks=pytest.mark.docker),
]
