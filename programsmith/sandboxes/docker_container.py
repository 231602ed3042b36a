"""Containers that hold foreign code: one list of what is closed, the same for every one of them.

In: an image that is here, a command, volumes, limits. Out: a container that was created and not started. No network, no
capability but the five that a grader or a first process needs to become others and end them, no new privileges, our
system call policy, a read-only root, limits on memory and processes, no core dump, no log on the host's disk.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from programsmith.sandboxes.docker_seccomp import seccomp_profile
from programsmith.sandboxes.engine import engine, labels, talking

if TYPE_CHECKING:
    from docker.models.containers import Container
    from docker.models.volumes import Volume

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "KILL", "SETGID", "SETUID")
NAME = "sandbox"  # of the host that a program sees
NOWHERE = "127.0.0.1"  # what stands in resolv.conf, which would name the host's own resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One container. `volumes` map a place inside to (volume, writable), `scratch` one to the options of a tmpfs."""

    image: str
    command: Sequence[str]
    workdir: str
    memory_bytes: int
    pids: int
    volumes: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    scratch: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    shared_bytes: int = 1 << 26
    stdin: bool = False


def create(plan: Plan) -> Container:
    """Create the container. Raises InfraError."""
    with talking(f"creating a container of {plan.image}"):
        container: Container = engine().containers.create(plan.image, **_options(plan))
        return container


def _options(plan: Plan) -> dict[str, Any]:
    return {
        "entrypoint": "",
        "command": list(plan.command),
        "user": "0:0",
        "working_dir": plan.workdir,
        "environment": dict(plan.environment),
        "hostname": NAME,
        "labels": labels(),
        "stdin_open": plan.stdin,
        "tty": False,
        "init": False,
        "network_mode": "none",
        "dns": [NOWHERE],
        "ipc_mode": "private",
        "cgroupns": "private",
        "read_only": True,
        "cap_drop": ["ALL"],
        "cap_add": list(CAPABILITIES),
        "security_opt": ["no-new-privileges:true", f"seccomp={seccomp_profile()}"],
        "mem_limit": plan.memory_bytes,
        "memswap_limit": plan.memory_bytes,
        "pids_limit": plan.pids,
        "shm_size": plan.shared_bytes,
        "tmpfs": dict(plan.scratch),
        "mounts": [_mount(target, *volume) for target, volume in plan.volumes.items()],
        "ulimits": _ulimits(),
        "log_config": _no_log(),
    }


def _mount(target: str, volume: str, writable: bool) -> Any:  # noqa: FBT001 - as in the plan
    from docker.types import Mount

    return Mount(target=target, source=volume, type="volume", read_only=not writable, no_copy=True)


def _ulimits() -> list[Any]:
    from docker.types import Ulimit

    return [Ulimit(name="core", soft=0, hard=0)]


def _no_log() -> Any:
    from docker.types import LogConfig

    return LogConfig(type="none")


def make_volume() -> Volume:
    """An empty volume of ours whose name says nothing. Raises InfraError."""
    with talking("making a volume"):
        volume: Volume = engine().volumes.create(name=uuid.uuid4().hex, driver="local", labels=labels())
        return volume


def remove_container(name: str) -> None:
    """Kill and remove; one that is gone is fine. Raises InfraError."""
    from docker.errors import NotFound

    with talking(f"removing the container {name}"), contextlib.suppress(NotFound):
        engine().api.remove_container(name, force=True, v=True)


def remove_volume(name: str) -> None:
    """Remove; one that is gone is fine. Raises InfraError."""
    from docker.errors import NotFound

    with talking(f"removing the volume {name}"), contextlib.suppress(NotFound):
        engine().volumes.get(name).remove(force=True)
