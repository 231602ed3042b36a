"""What a repository's URL says of it: its name, and its owner/name where it names a host."""

from __future__ import annotations

import re

HOSTED = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://(?:[^/@]*@)?[^/]+/|[^/@:]+@[^/:]+:|[a-z0-9.-]+\.[a-z]+:)(?P<path>.+)", re.IGNORECASE
)


def owner_of(url: str) -> str | None:
    """`owner/name` in lower case of a URL with a host (https, ssh, scp-like); None of a local path."""
    hit = HOSTED.fullmatch(url.strip())
    if hit is None or url.startswith("file:"):
        return None
    parts = hit["path"].strip("/").split("/")
    return "/".join(parts[-2:]).removesuffix(".git").lower() if len(parts) > 1 else None


def name_of(url: str) -> str:
    """The repository's name: the last part of a URL or path."""
    return re.split(r"[/:]", url.rstrip("/"))[-1].removesuffix(".git")


def public(url: str) -> str:
    """The URL without a user name or password, as it may be written down."""
    return re.sub(r"(?<=://)[^/@]*@", "", url)
