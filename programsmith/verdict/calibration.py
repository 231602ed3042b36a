"""Is a revision as hard as the spec demands? Trial counts in, an answer out.

One Beta(1,1) posterior per pair of agent and model; a band is judged on the strongest pair of its basis, so a maximum
bounds every pair. Sequential: trials are bought in batches until P(in band) is decided at the spec's confidence.
Equal artifacts of an agent whose seed decides them are one observation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb

from programsmith.records.labels import Labelled
from programsmith.records.trial import Pair


class Standing(StrEnum):
    """Where a pass rate stands against its band."""

    IN_BAND = "in_band"
    TOO_EASY = "too_easy"
    TOO_HARD = "too_hard"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The pass-rate interval that a spec demands, how sure it must be, how many trials it may take."""

    low: float
    high: float
    confidence: float
    trials_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Passes `k` of `n` independent trials of one pair.

    `bought` counts the trials that were asked for, those that infra lost among them; 0 where it is `n`. `constant`:
    the pair has one artifact only, whatever the seed, so that no further trial says more.
    """

    pair: Pair
    k: int
    n: int
    bought: int = 0
    constant: bool = False

    @property
    def spent(self) -> int:
        """How many trials were asked for."""
        return max(self.bought, self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A tally against a band: the posterior mass below, in and above it."""

    tally: Tally
    below: float
    inside: float
    above: float
    standing: Standing


def beta_cdf(x: float, a: int, b: int) -> float:
    """P(X <= x) for Beta(a, b) with whole a, b >= 1: the binomial tail identity, exact up to rounding."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    n = a + b - 1
    return sum(comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(a, n + 1))


def read(tally: Tally, band: Band) -> Reading:
    """Where one pair stands. Decided when the mass in the band, or on one side of it, reaches the confidence."""
    a, b = tally.k + 1, tally.n - tally.k + 1
    below = beta_cdf(band.low, a, b)
    above = 1 - beta_cdf(band.high, a, b)
    inside = max(0.0, 1 - below - above)
    standing = Standing.UNDECIDED
    if inside >= band.confidence:
        standing = Standing.IN_BAND
    elif inside <= 1 - band.confidence:
        standing = Standing.TOO_EASY if above >= below else Standing.TOO_HARD
    return Reading(tally=tally, below=below, inside=inside, above=above, standing=standing)


def strongest(tallies: Iterable[Tally]) -> Tally:
    """The pair with the highest posterior mean; more trials, then the name break a tie. Raises ValueError on none."""
    return max(tallies, key=lambda t: ((t.k + 1) / (t.n + 2), t.n, t.pair.agent, t.pair.model))


def observations(trials: Sequence[Labelled], repeatable: Collection[str]) -> list[Labelled]:
    """The trials that say something of their own: the first of each artifact where the seed decides it."""
    first = {(t.pair, t.artifact if t.pair.agent in repeatable else f"#{t.index}"): t for t in reversed(trials)}
    kept = {id(t) for t in first.values()}
    return [t for t in trials if id(t) in kept]


def tally(trials: Sequence[Labelled], repeatable: Collection[str]) -> Tally:
    """Count the trials of one pair; equal artifacts count once where the agent is `repeatable`.

    Raises IndexError on none.
    """
    pair, distinct = trials[0].pair, observations(trials, repeatable)
    return Tally(
        pair=pair,
        k=sum(t.passed for t in distinct),
        n=len(distinct),
        bought=1 + max(t.index for t in trials),
        constant=len(trials) > 1 and len(distinct) == 1 and pair.agent in repeatable,
    )


def tallies(trials: Iterable[Labelled], repeatable: Collection[str]) -> tuple[Tally, ...]:
    """The tally of every pair, in the order of their names. Ceiling trials are the caller's to leave out."""
    by_pair: dict[tuple[str, str], list[Labelled]] = {}
    for trial in trials:
        by_pair.setdefault((trial.pair.agent, trial.pair.model), []).append(trial)
    return tuple(tally(by_pair[key], repeatable) for key in sorted(by_pair))


def judge(tallies: Sequence[Tally], band: Band) -> Reading:
    """The band's reading: that of the strongest pair.

    Raises ValueError on an empty basis.
    """
    return read(strongest(tallies), band)


def wants_more(tallies: Sequence[Tally], band: Band, first_batch: int) -> bool:
    """Whether another batch may still decide: below the minimum, or undecided with trials left that can differ."""
    open_tallies = [t for t in tallies if not t.constant]
    if any(t.spent < min(first_batch, band.trials_max) for t in open_tallies):
        return True
    best = strongest(tallies)
    undecided = read(best, band).standing is Standing.UNDECIDED
    return undecided and not best.constant and best.spent < band.trials_max
