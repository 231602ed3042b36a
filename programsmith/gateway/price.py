"""Dollars of a call: what its tokens cost, and what it is held to cost before anybody knows.

In: a model's prices, tokens or the size of a request. Out: dollars, exactly. The answer has no more tokens than its
cap, an image a stated number; text is reckoned by bytes a token, as the rule says, or denser where that was seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of one call. `input` counts only what no cache held or took; `output` counts reasoning too."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0
    output: int = 0

    @property
    def taken(self) -> int:
        """All tokens of the request."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_long


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Dollars per million tokens, by the fields of Tokens."""

    input: Decimal
    cache_read: Decimal
    cache_write: Decimal
    cache_write_long: Decimal
    output: Decimal

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Rates:
        """Rates of a row of rules/models.yaml; what it leaves out costs as the schema says."""
        put = row["input"]
        write = row.get("cache_write", put)
        return cls(
            input=_dollars(put),
            cache_read=_dollars(row.get("cache_read", put)),
            cache_write=_dollars(write),
            cache_write_long=_dollars(row.get("cache_write_long", write)),
            output=_dollars(row["output"]),
        )

    def usd(self, tokens: Tokens) -> Decimal:
        """What the tokens cost."""
        return (
            tokens.input * self.input
            + tokens.cache_read * self.cache_read
            + tokens.cache_write * self.cache_write
            + tokens.cache_write_long * self.cache_write_long
            + tokens.output * self.output
        ) / MILLION

    def dearest(self, *, lasting: bool) -> Decimal:
        """The most that a token of the request may cost; `lasting`: it asks for a cache that lives longer."""
        return max(self.input, self.cache_read, self.cache_write, self.cache_write_long if lasting else self.input)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A model's rates; `long` hold for a whole call whose request has more than `above` tokens."""

    base: Rates
    long: Rates | None = None
    above: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Price:
        """The price of a model of rules/models.yaml."""
        long = row.get("long")
        if long is None:
            return cls(base=Rates.of(row["price"]))
        return cls(base=Rates.of(row["price"]), long=Rates.of({**row["price"], **long}), above=long["above"])

    def usd(self, tokens: Tokens) -> Decimal:
        """What a call took."""
        long = self.long is not None and tokens.taken > self.above
        return (self.long if long and self.long else self.base).usd(tokens)

    def at_most(self, taken: int, output: int, *, lasting: bool) -> Decimal:
        """The most that a call costs whose request has at most `taken` tokens and whose answer `output`."""
        rates = self._rates(taken)
        return max((taken * rate.dearest(lasting=lasting) + output * rate.output) / MILLION for rate in rates)

    def output_for(self, usd: Decimal, taken: int, wanted: int, *, lasting: bool) -> int:
        """Tokens of an answer, at most those wanted, that a call of at most `usd` leaves room for; 0 or less: none."""
        rooms = [
            int((usd * MILLION - taken * rate.dearest(lasting=lasting)) // rate.output)
            for rate in self._rates(taken)
            if rate.output
        ]
        return min([wanted, *rooms])

    def _rates(self, taken: int) -> list[Rates]:
        return [self.base] if self.long is None or taken <= self.above else [self.base, self.long]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How many tokens a request is held to have, by what it holds."""

    bytes_per_token: float
    image_tokens: int
    overhead_tokens: int

    def taken(self, text_bytes: int, images: int, seen: float = math.inf) -> int:
        """Tokens of a request of so many bytes beside its images; `seen` bytes a token were the densest before it."""
        each = min(self.bytes_per_token, seen)
        return math.ceil(text_bytes / each) + images * self.image_tokens + self.overhead_tokens

    def seen(self, text_bytes: int, taken: int) -> float:
        """Bytes a token of a request without images that took so many tokens; never below a byte."""
        own = taken - self.overhead_tokens
        return max(1.0, text_bytes / own) if own > 0 else math.inf


def _dollars(number: float) -> Decimal:
    return Decimal(str(number))
