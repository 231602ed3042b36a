"""The Docker engine: one connection, its faults as errors of ours, and what it runs for us marked as ours.

In: DOCKER_HOST as the engine's own client reads it. Out: the client of the engine's SDK. Refused: no engine, one that
is older than API 1.41. Nothing is ever pulled: an image is here, or the error names the command that provides it.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from programsmith.errors import InfraError, PrerequisiteError
from programsmith.sandboxes.owners import mark, place

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image
    from requests import Response

OLDEST = (1, 41)
LABEL = "programsmith"
OWNER = f"{LABEL}.owner"
_ABSENT = 404
_LACKS = {"no space left on device": errno.ENOSPC, "cannot allocate memory": errno.ENOMEM, "OOM-killed": errno.ENOMEM}
"""What the kernel says to the engine, which passes it on in a text."""
_CHUNK = 1 << 20
_PATIENCE = 600  # seconds that one answer of the engine may take


@cache
def engine() -> DockerClient:
    """The engine. Raises PrerequisiteError where none answers, or one that is too old."""
    import docker
    from docker.constants import DEFAULT_UNIX_SOCKET
    from docker.errors import DockerException
    from docker.utils import kwargs_from_env

    try:
        _knock(kwargs_from_env().get("base_url", DEFAULT_UNIX_SOCKET))
        client = docker.from_env(version="auto", timeout=_PATIENCE)
        client.ping()
    except (DockerException, OSError) as fault:
        raise PrerequisiteError(
            f"no Docker engine answers ({fault}); run: apt-get install -y docker.io, start dockerd and let DOCKER_HOST "
            f"name its socket; or use sandbox: bubblewrap"
        ) from fault
    version = client.api.api_version
    if tuple(map(int, version.split("."))) < OLDEST:
        raise PrerequisiteError(f"the Docker engine speaks API {version}; wanted {OLDEST[0]}.{OLDEST[1]} or newer")
    return client


def _knock(address: str) -> None:
    """Raise OSError where nobody listens on a unix socket; the engine's client would leave a socket open then."""
    _, unix, path = address.partition("unix://")
    if unix:
        with socket.socket(socket.AF_UNIX) as ours:
            ours.connect(path)


@contextmanager
def talking(what: str, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """Whatever the engine cannot do inside is InfraError, naming `what` was being done; ours pass, and `but`."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except but:
        raise
    except (DockerException, RequestException, OSError) as fault:
        lacks = next((number for words, number in _LACKS.items() if words in str(fault)), None)
        raise InfraError(f"Docker engine: {what}: {fault}") from OSError(lacks, str(fault)) if lacks else fault


@contextmanager
def downloading(address: str, **params: str) -> Iterator[Iterator[bytes]]:
    """The chunks of what the engine streams. Its end is told to the engine, which holds locks while it streams."""
    with talking(f"reading {address}"):
        answer = _ask("GET", address, params)
        try:
            answer.raise_for_status()
            yield answer.iter_content(_CHUNK)
        finally:
            answer.close()


def header(address: str, name: str, **params: str) -> str | None:
    """A header of the engine's answer to HEAD; None where there is no such thing. Raises InfraError."""
    with talking(f"looking at {address}"):
        answer = _ask("HEAD", address, params)
        answer.close()
        if answer.status_code == _ABSENT:
            return None
        answer.raise_for_status()
        return str(answer.headers[name])


def _ask(method: str, address: str, params: dict[str, str]) -> Response:
    api = engine().api
    whole = f"{api.base_url}/v{api.api_version}{address}"
    return api.request(method, whole, params=params, stream=True, timeout=_PATIENCE)


def find_image(name: str) -> Image | None:
    """The image of a tag or id, None where the engine does not have it. Raises InfraError."""
    from docker.errors import ImageNotFound

    with talking(f"looking for the image {name}"):
        try:
            return engine().images.get(name)
        except ImageNotFound:
            return None


def labels() -> dict[str, str]:
    """What everything that this process has the engine make is marked with."""
    return {LABEL: place(), OWNER: mark()}
