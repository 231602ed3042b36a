"""An action's entry: what a block said and which objects it made, signed by who wrote it.

In: an entry and the writer key. Out: its bytes. Reading refuses what is no entry, what stands under another key than
its own, and what this writer key did not sign; each refusal is a sentence, never an error.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from programsmith.payload.verifier.model import canonical
from programsmith.records import codec
from programsmith.store.backend import NAME, Namespace
from programsmith.store.keys import fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """An object: where it lies and its name there."""

    space: Namespace
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """`outcome` is the object of the block's answer, `artifacts` those of what it wrote.

    `specs` are all that used it; `sealed_with` tells the store key of sealed objects, empty where none is sealed.
    """

    key: str
    block: str
    specs: tuple[str, ...]
    sealed_with: str
    outcome: Ref
    artifacts: dict[str, Ref]

    def refs(self) -> Iterator[Ref]:
        """All objects that the entry needs."""
        yield self.outcome
        yield from self.artifacts.values()

    def used_by(self, spec: str) -> Entry:
        """The entry with one more user."""
        return replace(self, specs=tuple(sorted({*self.specs, spec})))


def encode(entry: Entry, writer: bytes) -> bytes:
    """The signed bytes of an entry."""
    value = codec.encode(entry)
    return canonical({"entry": value, "writer": fingerprint(writer), "mac": _mac(value, writer)})


def decode(raw: bytes) -> Entry | None:
    """The entry, whoever signed it; None where the bytes are none."""
    return _entry(_value(raw).get("entry"))


def verified(raw: bytes, key: str, writer: bytes | None) -> Entry | str:
    """The entry of `key` if the writer key signed it, else why it does not count."""
    if writer is None:
        return "there is no writer key, so no entry can be believed"
    value = _value(raw)
    entry = _entry(value.get("entry"))
    if entry is None:
        return "the entry is damaged"
    if value.get("writer") != fingerprint(writer):
        return "the entry was signed with another writer key"
    if not hmac.compare_digest(str(value.get("mac")).encode(), _mac(value["entry"], writer).encode()):
        return "the entry's signature does not hold"
    return entry if entry.key == key else "the entry belongs to another key"


def _value(raw: bytes) -> Mapping[str, object]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _entry(value: object) -> Entry | None:
    try:
        entry = codec.decode(Entry, value)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
    names = [entry.key, *(ref.name for ref in entry.refs())]
    return entry if all(NAME.fullmatch(name) for name in names) else None


def _mac(value: object, writer: bytes) -> str:
    return hmac.digest(writer, b"programsmith action\0" + canonical(value), "sha256").hex()
