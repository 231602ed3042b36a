"""Images in a registry: the engine pushes them, and the registry says under which digest it has them.

In: HOST/NAME, an image that the engine has, a tag. Out: `HOST/NAME@sha256:…`. Credentials are those that the engine's
own client is configured with (`docker login`, DOCKER_CONFIG); they stand in no argument, message or file of ours. What
the registry has already is not sent again. Refused: a name that is no repository's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from programsmith.errors import InfraError, InputError
from programsmith.sandboxes.engine import engine, talking

REPOSITORY = re.compile(
    r"(?=[^/]*[.:]|localhost/)[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+"
)
"""A registry's host, told by its dot, port or the name localhost, and a repository there."""
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_UNKNOWN = ("no basic auth credentials", "authentication required", "incorrect username or password")
_UNREACHED = ("dial tcp", "no such host", "connection refused", "http response to https client", "x509")
_REFUSALS = (*_UNKNOWN, "unauthorized", "denied", "forbidden")
_LONGEST = 255
_SAYS = 500  # characters of an engine's answer that an error shows


def repository(given: str) -> str:
    """HOST/NAME as it is given. Raises InputError."""
    if not REPOSITORY.fullmatch(given) or len(given) > _LONGEST:
        raise InputError(
            f"registry={given}: wanted HOST/NAME without a tag, in lower case, such as registry.example.org/tasks or "
            f"127.0.0.1:5000/tasks"
        )
    return given


def probe(place: str) -> None:
    """See that the registry answers and takes the credentials, before anything is made for it. Raises InfraError.

    A registry that refuses to tell of a repository that is not there yet may still take a push: only what no push
    would survive counts.
    """
    from docker.errors import APIError

    try:
        with talking(f"asking {place}", but=APIError):
            engine().api.inspect_distribution(f"{place}:probe")  # type: ignore[no-untyped-call]
    except APIError as fault:
        why = str(fault.explanation)
        if any(word in why.lower() for word in (*_UNKNOWN, *_UNREACHED)):
            raise _failed(place, " ".join(why.split())[:_SAYS]) from None


def has(reference: str) -> bool:
    """Whether the registry has what a reference by digest names."""
    return told(reference) == reference.rpartition("@")[2]


def told(name: str) -> str | None:
    """The digest that the registry tells of a name in it; None where it tells none."""
    from docker.errors import APIError

    try:
        with talking(f"asking for {name}", but=APIError):
            found = engine().api.inspect_distribution(name)["Descriptor"]["digest"]  # type: ignore[no-untyped-call]
    except APIError:  # absent, refused, out of reach: whoever pushes next is told which
        return None
    return str(found)


def push(image: str, place: str, tag: str) -> str:
    """Push an image; its reference by the digest that the registry tells afterwards. Raises InfraError."""
    with talking(f"pushing to {place}"):
        engine().api.tag(image, place, tag)
        try:
            said = list(engine().api.push(place, tag, stream=True, decode=True))
        finally:
            engine().api.remove_image(f"{place}:{tag}", noprune=True)
    digest = _accepted(place, said)
    found = told(f"{place}:{tag}")
    if found != digest:
        raise InfraError(f"registry: {place}:{tag} was pushed as {digest} and is {found or 'not there'}; run again")
    return f"{place}@{digest}"


def _accepted(place: str, said: Iterable[Mapping[str, Any]]) -> str:
    """The digest that the registry accepted, as the engine tells it. Raises InfraError."""
    digest = ""
    for line in said:
        if "error" in line:
            raise _failed(place, " ".join(str(line["error"]).split())[:_SAYS])
        digest = line.get("aux", {}).get("Digest", digest)
    if not DIGEST.fullmatch(digest):
        raise InfraError(f"registry: {place}: the engine pushed and told no digest; run again")
    return digest


def _failed(place: str, why: str) -> InfraError:
    host = place.partition("/")[0]
    if any(word in why.lower() for word in _REFUSALS):
        return InfraError(f"registry: {place}: {host} refuses the credentials ({why}); run: docker login {host}")
    return InfraError(f"registry: {place}: {why}; what was pushed stays there, run again to go on")
