"""Roots: which specs of which projects need what a store holds, one small file each.

In: a backend, a spec of a project. Out: its root, put before the first object that it needs and counted as used with
every build that uses the store. A root is named by its content, so an altered one is known (InfraError: what it stood
for cannot be told, and nothing may be removed); one that somebody invents keeps objects and removes none, so a root
wants no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from programsmith.errors import InfraError
from programsmith.payload.verifier.model import canonical
from programsmith.records import codec
from programsmith.store.backend import Backend, Namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A spec that needs what it used: its name, its file, its project's folder, and the machine that these lie on."""

    spec: str
    file: str
    project: str
    machine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooted:
    """A root that a store holds under a name; `seconds` since the epoch: when a build used the store for it last."""

    name: str
    seconds: float
    root: Root


def keep_root(backend: Backend, root: Root) -> None:
    """Put the root, or count it as used. The caller shares the collection. Raises OSError."""
    content = canonical(codec.encode(root))
    backend.put(Namespace.ROOTS, _name(content), content)


def roots(backend: Backend) -> Iterator[Rooted]:
    """All roots of a store. Raises InfraError on one that is damaged, OSError."""
    for kept in backend.list(Namespace.ROOTS):
        content = backend.get(Namespace.ROOTS, kept.name)
        if content is None:
            raise _damaged(kept.name, "it is no regular file")
        try:
            root = codec.decode(Root, json.loads(content))
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as fault:
            raise _damaged(kept.name, str(fault)) from fault
        if _name(content) != kept.name:
            raise _damaged(kept.name, "its content is not the one that it is named by")
        yield Rooted(name=kept.name, seconds=kept.seconds, root=root)


def _name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _damaged(name: str, why: str) -> InfraError:
    place = f"{Namespace.ROOTS}/{name[:2]}/{name}"
    wanted = "remove it, build in every project that uses the store, and collect then"
    return InfraError(f"the store's {place} is damaged ({why}), so nobody knows which objects are needed; {wanted}")
