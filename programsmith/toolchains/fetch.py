"""Bring declared dependencies with the package client, the only step with a network; it runs no code of the source.

In: a source, a request. Out: entries by their path beside the source: what an interpreted language installs, what a
compiled one builds with. One plug per client; refused by name (`needs_network_build`) is what a client can have only
by running code, or from elsewhere than the language's registry.
"""

from __future__ import annotations

from collections.abc import Callable

from programsmith.payload.verifier.model import FileEntry
from programsmith.records.outcome import Word
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.fetch_cargo import fetch_cargo
from programsmith.toolchains.fetch_go import fetch_go
from programsmith.toolchains.fetch_maven import fetch_maven
from programsmith.toolchains.fetch_npm import fetch_npm
from programsmith.toolchains.fetch_pip import fetch_pip
from programsmith.toolchains.recipe import BuildRefusedError, BuildRequest

Client = Callable[[SourceTree, BuildRequest], tuple[FileEntry, ...]]
CLIENTS: dict[str, Client] = {  # by the first word of the rule's `fetch.command`
    "mvn": fetch_maven,
    "npm": fetch_npm,
    "cargo": fetch_cargo,
    "go": fetch_go,
    "pip": fetch_pip,
}


def fetch(source: SourceTree, request: BuildRequest) -> tuple[FileEntry, ...]:
    """What the language's client brings. Raises BuildRefusedError, InfraError where the registry cannot be reached."""
    toolchain = request.toolchain
    if toolchain.fetch is None:
        if request.spec_build.get("fetch"):
            raise BuildRefusedError(
                Word.UNBUILDABLE, f"build.fetch: {toolchain.language} has no fetch step; use build.packages"
            )
        return ()
    return CLIENTS[toolchain.fetch.command[0]](source, request)
