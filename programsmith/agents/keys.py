"""Keys of trials: equal keys mean that the attempt was made already, on whatever machine.

In: what an agent can see and use, who tries, which attempt it is. Out: SHA-256 digests. No image id goes in: a place
that is built again is the same place when it shows and allows the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from programsmith.payload.verifier.model import Limits, canonical

NETWORK = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """All that an agent has: the instruction's digest, files below /app by path, toolchains by version, limits.

    The public runner is code of ours, which the trial block's number stands for; the canary is a mark of the bundle.
    """

    instruction: str
    app: Mapping[str, str]
    toolchains: Mapping[str, str]
    limits: Limits
    network: str = NETWORK


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Who tries what: `oracle_access` says what of the original can be asked or read, `parameters` the entry's rest."""

    agent: str
    version: str
    model: str
    parameters: Mapping[str, Any]
    oracle_access: str
    backend: str
    index: int
    generation: int


def agent_digest(surface: Surface) -> str:
    """Digest of what an agent sees and may use."""
    return _digest(asdict(surface))


def trial_key(surface: Surface, attempt: Attempt) -> str:
    """Key of one attempt."""
    return _digest({"surface": agent_digest(surface), **asdict(attempt)})


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()
