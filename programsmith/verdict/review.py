"""Where a build parks for a person: what is proposed, and the command that accepts exactly that."""

from __future__ import annotations

import hashlib
from typing import Any

from programsmith.payload.verifier.model import canonical
from programsmith.records.codec import encode


def proposal(value: Any) -> str:
    """SHA-256 of what a person is to look at. An approval names it, so it is void when something else is proposed."""
    return hashlib.sha256(canonical(encode(value))).hexdigest()


def go_on(name: str, block: str) -> str:
    """The exact command that accepts what `block` proposed for the spec `name`."""
    return f"programsmith build spec={name} approve={block}"
