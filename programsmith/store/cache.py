"""The action cache: what a block made of equal inputs, on whatever machine, is taken and not made again.

In: a key; a backend, the user's keys. Out: the block's answer and its artifacts, each verified by digest, or why there
are none. A damaged, foreign or sealed thing that cannot be opened is a miss that says so, never an error. Objects are
put before the entry that names them, so an entry never names what is not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.payload.verifier.model import canonical
from programsmith.store.backend import Backend, Namespace
from programsmith.store.entry import Entry, Ref, decode, encode, verified
from programsmith.store.keys import STORE_KEY, Keys, fingerprint
from programsmith.store.leases import Leases
from programsmith.store.pack import packed, unpack
from programsmith.store.roots import Root, keep_root
from programsmith.store.sealing import Box

COLLECTION = "collection"
"""Shared by all who read or publish, held alone by who removes objects."""
NEW = "nothing is kept for it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What was restored: the answer as it was published; the artifacts lie where they were wanted."""

    outcome: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """Why nothing was restored."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a block made for a spec: its answer (JSON), its artifacts by name. `sealed`: not for everyone's eyes."""

    block: str
    spec: str
    outcome: Any
    artifacts: Mapping[str, Path]
    open: Callable[[str], bool]
    outcome_open: bool


class _UnusableError(Exception):
    """An object that cannot be had; the message says which and why."""


class ActionCache:
    """One store as a user with `keys` sees it. `root` is the spec for which it is used, kept with the first use."""

    def __init__(self, backend: Backend, keys: Keys, leases: Leases, root: Root | None = None) -> None:
        self._backend = backend
        self._root = root
        self._keys = keys
        self._leases = leases
        self._box = Box(keys.store) if keys.store else None

    @contextmanager
    def lease(self, key: str) -> Iterator[None]:
        """Hold the key while it is looked up, worked on and published. Others who want it wait."""
        with self._leases.lease(key):
            yield

    def lookup(self, key: str, spec: str, places: Mapping[str, Path]) -> Hit | Miss:
        """Restore what is kept for `key`; `places` maps artifact names to paths where nothing lies yet.

        Where it is a Miss some places may hold remains. Raises OSError only where a place cannot be written.
        """
        with self._leases.shared(COLLECTION):
            found = self._found(key, places)
            if isinstance(found, Miss):
                return found
            entry, hit = found
            self._used(entry, spec)
            return hit

    def look(self, key: str, places: Mapping[str, Path]) -> Hit | Miss:
        """The same for who only looks: nothing is held and no use is counted, so that a collection may interfere."""
        found = self._found(key, places)
        return found if isinstance(found, Miss) else found[1]

    def peek(self, key: str) -> Any:
        """The answer that is kept for `key`, None where there is none to believe."""
        with self._leases.shared(COLLECTION):
            found = self._entry(key)
            try:
                return None if isinstance(found, str) else _json(self._content(found.outcome, found))
            except _UnusableError:
                return None

    def publish(self, key: str, made: Made) -> str | None:
        """Keep what a block made. Returns why it is not kept where it cannot be: the work itself is not in danger."""
        if self._keys.writer is None:
            return "there is no writer key to sign with"
        try:
            with self._leases.shared(COLLECTION):
                self._rooted()
                outcome = self._put(canonical(made.outcome), clear=made.outcome_open)
                artifacts = {n: self._put(packed(p), clear=made.open(n)) for n, p in made.artifacts.items()}
                sealed = Namespace.SEALED in {ref.space for ref in (outcome, *artifacts.values())}
                entry = Entry(
                    key=key,
                    block=made.block,
                    specs=(made.spec,),
                    sealed_with=fingerprint(self._keys.store) if sealed and self._keys.store else "",
                    outcome=outcome,
                    artifacts=artifacts,
                )
                self._backend.put(Namespace.AC, key, encode(self._joined(entry), self._keys.writer))
        except _UnusableError as fault:
            return str(fault)
        except OSError as fault:
            return f"the store cannot be written ({fault.strerror})"
        return None

    def _found(self, key: str, places: Mapping[str, Path]) -> tuple[Entry, Hit] | Miss:
        """The entry of `key`, with its artifacts restored."""
        found = self._entry(key)
        if isinstance(found, str):
            return Miss(why=found)
        if not set(found.artifacts) <= set(places):
            return Miss(why="the entry names artifacts that the block does not write")
        try:
            outcome = _json(self._content(found.outcome, found))
            for name, ref in found.artifacts.items():
                _restore(name, self._content(ref, found), places[name])
        except _UnusableError as fault:
            return Miss(why=str(fault))
        return found, Hit(outcome=outcome)

    def _joined(self, entry: Entry) -> Entry:
        """The entry with the users that an earlier one of its key had."""
        raw = self._backend.get(Namespace.AC, entry.key)
        former = decode(raw) if raw is not None else None
        for spec in former.specs if former else ():
            entry = entry.used_by(spec)
        return entry

    def _entry(self, key: str) -> Entry | str:
        try:
            raw = self._backend.get(Namespace.AC, key)
        except OSError as fault:
            return f"the store cannot be read ({fault.strerror})"
        return NEW if raw is None else verified(raw, key, self._keys.writer)

    def _used(self, entry: Entry, spec: str) -> None:
        """Count a use; a store that cannot be written forgets it."""
        try:
            self._rooted()
            if spec in entry.specs:
                self._backend.touch(Namespace.AC, entry.key)
            elif self._keys.writer:
                self._backend.put(Namespace.AC, entry.key, encode(entry.used_by(spec), self._keys.writer))
        except OSError:
            return

    def _rooted(self) -> None:
        """Let the store know for whom it is used, once. Raises OSError."""
        if self._root is not None:
            keep_root(self._backend, self._root)
            self._root = None

    def _put(self, content: bytes, *, clear: bool) -> Ref:
        digest = hashlib.sha256(content).hexdigest()
        if clear:
            self._backend.put(Namespace.CAS, digest, content)
            return Ref(space=Namespace.CAS, name=digest)
        if self._box is None:
            raise _UnusableError("there is no store key to seal with")
        name = self._box.name(digest)
        self._backend.put(Namespace.SEALED, name, self._box.seal(content, digest))
        return Ref(space=Namespace.SEALED, name=name)

    def _content(self, ref: Ref, entry: Entry) -> bytes:
        """The object's clear bytes, verified. Raises _UnusableError."""
        try:
            raw = self._backend.get(ref.space, ref.name)
        except OSError as fault:
            raise _UnusableError(f"the store cannot be read ({fault.strerror})") from fault
        if raw is None:
            raise _UnusableError(f"its object {ref.name[:12]} is gone")
        content = raw if ref.space is Namespace.CAS else self._opened(raw, ref, entry)
        if content is None or not self._is_named(content, ref):
            raise _UnusableError(f"its object {ref.name[:12]} is rotten")
        return content

    def _opened(self, raw: bytes, ref: Ref, entry: Entry) -> bytes | None:
        if self._box is None or self._keys.store is None:
            raise _UnusableError(f"it is sealed and there is no store key; give it in {STORE_KEY}")
        if entry.sealed_with != fingerprint(self._keys.store):
            raise _UnusableError(f"it is sealed with another store key; give that one in {STORE_KEY}")
        return self._box.open(raw, ref.name)

    def _is_named(self, content: bytes, ref: Ref) -> bool:
        digest = hashlib.sha256(content).hexdigest()
        return ref.name == (digest if ref.space is Namespace.CAS or self._box is None else self._box.name(digest))


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError as fault:
        raise _UnusableError("its answer is no JSON") from fault


def _restore(name: str, content: bytes, place: Path) -> None:
    try:
        unpack(content, place)
    except ValueError as fault:
        raise _UnusableError(f"{name}: {fault}") from fault
