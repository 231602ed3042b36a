"""Garbage collection: objects that nothing needs go, whatever somebody else publishes meanwhile.

In: a store, the specs that live, a time. Out: what was removed. A root keeps its spec alive until it is known to be
over. An entry stays where a live spec used it or it was used since the time; an object stays where an entry that stays
names it, or where it is young. Who publishes or restores waits for it and it for them, so what is half published is
never seen; a writer whom the lock does not reach, on a machine with locks of its own, has the time in which its objects
are young. Entries and roots of other writers are kept by the same rule. Refuses where no lock is to be had
(PrerequisiteError).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from programsmith.errors import PrerequisiteError
from programsmith.store.backend import Backend, Kept, Namespace
from programsmith.store.cache import COLLECTION
from programsmith.store.entry import Ref, decode
from programsmith.store.leases import Leases
from programsmith.store.roots import Rooted, roots

YOUNG_SECONDS = 3600.0
"""How long an object that no entry names stays after it was put or used last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """Counts of what went and what stayed; `freed` in bytes."""

    entries: int
    objects: int
    freed: int
    entries_kept: int
    objects_kept: int
    roots: int
    roots_kept: int


def collected(
    backend: Backend,
    leases: Leases,
    *,
    live: Collection[str],
    since: float,
    now: float,
    over: Callable[[Rooted], bool] = lambda _: False,
) -> Collected:
    """Remove what no live spec used and nobody used after `since` (seconds since the epoch, as `now`).

    `live` specs are those beside the roots'; a root that is `over` goes. Raises OSError, InfraError, PrerequisiteError.
    """
    with _alone(leases):
        rooted = list(roots(backend))
        ended = [one for one in rooted if over(one)]
        specs = {*live, *(one.root.spec for one in rooted if one not in ended)}
        needed: set[Ref] = set()
        gone: list[tuple[Namespace, Kept]] = []
        entries = list(backend.list(Namespace.AC))
        for kept in entries:
            refs = _refs(backend, kept, specs, since)
            needed |= refs
            gone += [] if refs else [(Namespace.AC, kept)]
        dead = len(gone)
        objects = [(space, kept) for space in (Namespace.CAS, Namespace.SEALED) for kept in backend.list(space)]
        old = [(space, kept) for space, kept in objects if kept.seconds < now - YOUNG_SECONDS]
        gone += [(space, kept) for space, kept in old if Ref(space=space, name=kept.name) not in needed]
        for space, name in [*((space, kept.name) for space, kept in gone), *((Namespace.ROOTS, o.name) for o in ended)]:
            backend.delete(space, name)
        backend.clear_drafts(now - YOUNG_SECONDS)
    return Collected(
        entries=dead,
        objects=len(gone) - dead,
        freed=sum(kept.size for _, kept in gone),
        entries_kept=len(entries) - dead,
        objects_kept=len(objects) - len(gone) + dead,
        roots=len(ended),
        roots_kept=len(rooted) - len(ended),
    )


@contextmanager
def _alone(leases: Leases) -> Iterator[None]:
    """Hold off who publishes or restores. Raises PrerequisiteError where nobody can be held off."""
    with leases.alone(COLLECTION) as alone:
        if not alone:
            why = f"{leases.folder} cannot be written, so nobody can be kept from publishing meanwhile"
            raise PrerequisiteError(f"gc: {why}; nothing was removed. Run it where the store can be written")
        yield


def _refs(backend: Backend, kept: Kept, live: Collection[str], since: float) -> set[Ref]:
    """Objects that the entry keeps; none where it goes itself."""
    raw = backend.get(Namespace.AC, kept.name)
    entry = decode(raw) if raw is not None else None
    if entry is None or not (kept.seconds >= since or set(entry.specs) & set(live)):
        return set()
    return set(entry.refs())
