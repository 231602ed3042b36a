"""Containers that hold foreign code: one list of what is closed, the same for every one of them.

In: an image that is here, a command, volumes, limits. Out: a container that was created and not started. No network, no
capability but the five that a grader or a first process needs to become others and end them, no new privileges, our
system call policy, a read-only root, limits on memory and processes, no core dump, no log on the host's disk.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from programsmith.errors import InfraError
from programsmith.payload.verifier.pump import Flow
from programsmith.sandboxes.docker_seccomp import seccomp_profile
from programsmith.sandboxes.docker_streams import Streams
from programsmith.sandboxes.docker_used import used
from programsmith.sandboxes.engine import engine, labels, talking

CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "KILL", "SETGID", "SETUID")
NAME = "sandbox"  # of the host that a program sees
NOWHERE = "127.0.0.1"  # what stands in resolv.conf, which would name the host's own resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One container. `volumes` map a place inside to (volume, writable), `scratch` one to the options of a tmpfs.

    `live` maps one to a folder of the engine's host, which is shown read-only as it is.

    `profile` is the system call policy in the engine's form, where it is not the packaged one.
    """

    image: str
    command: Sequence[str]
    workdir: str
    memory_bytes: int
    pids: int
    volumes: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    live: Mapping[str, str] = field(default_factory=dict)
    scratch: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    shared_bytes: int = 1 << 26
    profile: str = ""
    cpus: float | None = None


def create(plan: Plan) -> str:
    """Create the container; its id. Raises InfraError."""
    from docker.errors import ImageNotFound

    with talking(f"creating a container of {plan.image}"):
        try:
            made = str(engine().containers.create(plan.image, **_options(plan)).id)
        except ImageNotFound as fault:
            raise InfraError(
                f"creating a container of {plan.image}: that image was removed; to have it made again, run: "
                f"programsmith forget NAME:r0:images, and build"
            ) from fault
    used(plan.image)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a container ended: what flowed, the status of its first process, whether the engine saw it want memory."""

    flow: Flow
    status: int
    out_of_memory: bool


def run(name: str, stdin: bytes, output_bytes: int, seconds: float) -> Ended:
    """Start a container, move its streams until it ends or passes a limit, and see to its end. Raises InfraError."""
    from docker.errors import APIError

    with talking(f"running the container {name}"):
        api = engine().api
        connection = _attached(name)
        try:
            api.start(name)
            flow = Streams(connection, stdin, output_bytes, time.monotonic() + seconds).run()
        finally:
            connection.close()
        if flow.over:
            with contextlib.suppress(APIError):  # it ended by itself meanwhile
                api.kill(name)
        status = int(api.wait(name)["StatusCode"])
        return Ended(flow=flow, status=status, out_of_memory=api.inspect_container(name)["State"]["OOMKilled"])


def _attached(name: str) -> socket.socket:
    """A connection to the container's streams, made before it starts."""
    wanted = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    stream: Any = engine().api.attach_socket(name, params=wanted)
    raw = getattr(stream, "_sock", stream)  # over a unix socket the SDK hands out a file of it
    connection = socket.socket(fileno=os.dup(raw.fileno()))
    raw.close()
    stream.close()
    return connection


def _options(plan: Plan) -> dict[str, Any]:
    return {
        "entrypoint": "",
        "command": list(plan.command),
        "user": "0:0",
        "working_dir": plan.workdir,
        "environment": dict(plan.environment),
        "hostname": NAME,
        "labels": labels(),
        "stdin_open": True,
        "tty": False,
        "init": False,
        "network_mode": "none",
        "dns": [NOWHERE],
        "ipc_mode": "private",
        "cgroupns": "private",
        "read_only": True,
        "cap_drop": ["ALL"],
        "cap_add": list(CAPABILITIES),
        "security_opt": ["no-new-privileges:true", f"seccomp={plan.profile or seccomp_profile()}"],
        "mem_limit": plan.memory_bytes,
        "memswap_limit": plan.memory_bytes,
        "pids_limit": plan.pids,
        "nano_cpus": round(plan.cpus * 1e9) if plan.cpus else None,
        "shm_size": plan.shared_bytes,
        "tmpfs": dict(plan.scratch),
        "mounts": [
            *(_mount(target, *volume) for target, volume in plan.volumes.items()),
            *(_live(target, source) for target, source in plan.live.items()),
        ],
        "ulimits": _ulimits(),
        "log_config": _no_log(),
    }


def _mount(target: str, volume: str, writable: bool) -> Any:  # noqa: FBT001 - as in the plan
    from docker.types import Mount

    return Mount(target=target, source=volume, type="volume", read_only=not writable, no_copy=True)


def _live(target: str, source: str) -> Any:
    from docker.types import Mount

    return Mount(target=target, source=source, type="bind", read_only=True)


def _ulimits() -> list[Any]:
    from docker.types import Ulimit

    return [Ulimit(name="core", soft=0, hard=0)]


def _no_log() -> Any:
    from docker.types import LogConfig

    return LogConfig(type="none")


def make_volume() -> str:
    """An empty volume of ours, whose name says nothing. Raises InfraError."""
    name = uuid.uuid4().hex
    with talking("making a volume"):
        engine().api.create_volume(name, driver="local", labels=labels())
    return name


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
