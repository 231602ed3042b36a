"""verdict.json: how a spec ended, and why."""

from __future__ import annotations

from dataclasses import dataclass

from programsmith.records.outcome import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`q` is the product of the factors b (builds), v (valid), h (headroom) and not_s (not hackable).

    A factor is 0 or 1, None where no block has judged it; q is 0 where any factor is, else None where any is None.
    `environments` says where it was proven: kind and fingerprint of each. `reasons` are `code: text`.
    """

    outcome: Word
    q: int | None
    b: int | None
    v: int | None
    h: int | None
    not_s: int | None
    revision: int
    environments: tuple[dict[str, str], ...]
    reasons: tuple[str, ...]
