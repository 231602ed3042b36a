"""The most that a model's answers cost, before anybody asked.

In: rules `models` and `gateway`, a model, the size of requests. Out: dollars. The bound holds because the gateway
reckons in the same way and no request is longer than what is counted here. Refuses a model that has no price.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from programsmith.gateway.terms import Terms, terms
from programsmith.models.request import Request
from programsmith.spec.checks import is_replay

WRAPPED_BYTES = 4096
"""Bytes of a request's body beside its text, at most."""
FRAMED_BYTES = 1024
"""Bytes of what a second try says beside the data, the answer and its fault, at most."""


def call_usd(rules: Mapping[str, Any], request: Request) -> Decimal:
    """Dollars that one call costs at most. Raises InputError."""
    return _usd(rules, request.model, request.bytes, request.answer_tokens)


def run_usd(rules: Mapping[str, Any], asks: Mapping[str, Any], block: str, model: str, told: int) -> Decimal:
    """Dollars that one run of a block costs at most. `told` is the size of its system part. Raises InputError."""
    if is_replay(model):
        return Decimal(0)
    row = asks["blocks"][block]
    size = told + row["data_bytes"] + asks["answer_bytes"] + FRAMED_BYTES
    return _usd(rules, model, size, row["answer_tokens"]) * int(row["calls"]) * (1 + int(asks["repairs"]))


def _usd(rules: Mapping[str, Any], model: str, size: int, answer_tokens: int) -> Decimal:
    found: Terms = terms(rules, (model,), None)
    priced = next(iter(found.models.values()))
    taken = found.bounds.taken(size + WRAPPED_BYTES, 0)
    usd: Decimal = priced.price.at_most(taken, min(answer_tokens, priced.output_most), lasting=False)
    return usd
