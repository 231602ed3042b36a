"""Which invocation a set of cases means, where the source does not say: the template that agrees with the oracle.

Each set is sampled; the first template (in the miner's order) whose sample agrees often enough is taken, all other
cases of the set are dropped. A set that no template fits is dropped whole.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from programsmith.goldens.agreement import ABSENT, AGREE, agreement
from programsmith.goldens.capture import Capture
from programsmith.records.golden import MinedCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What was tried for one set: template to (agreeing, sampled); `taken` is None where none fits."""

    taken: str | None
    tried: dict[str, tuple[int, int]]


def choose(
    mined: Sequence[MinedCase], capture: Capture, *, share: float, sample: int, seed: int, workers: int
) -> tuple[list[MinedCase], dict[str, Choice]]:
    """The cases whose invocation is settled, and the choice per set. Raises InfraError."""
    sets: dict[str, dict[str, list[MinedCase]]] = {}
    for found in mined:
        if found.template_set:
            sets.setdefault(found.template_set, {}).setdefault(found.template, []).append(found)
    with ThreadPoolExecutor(workers) as pool:
        choices = {
            name: _choice(
                forms, lambda cases: list(pool.map(lambda c: _agrees(capture, c), cases)), share, sample, seed
            )
            for name, forms in sorted(sets.items())
        }
    kept = [m for m in mined if not m.template_set or choices[m.template_set].taken == m.template]
    return kept, choices


def _choice(
    forms: dict[str, list[MinedCase]],
    try_all: Callable[[list[MinedCase]], list[str]],
    share: float,
    sample: int,
    seed: int,
) -> Choice:
    tried: dict[str, tuple[int, int]] = {}
    for template, cases in forms.items():
        words = [w for w in try_all(_sampled(cases, sample, seed)) if w != ABSENT]
        tried[template] = (words.count(AGREE), len(words))
        if words and words.count(AGREE) >= share * len(words):
            return Choice(taken=template, tried=tried)
    return Choice(taken=None, tried=tried)


def _sampled(cases: Iterable[MinedCase], sample: int, seed: int) -> list[MinedCase]:
    """A seeded sample by source, so that every template is tried on the same tests."""
    return sorted(cases, key=lambda c: random.Random(f"{seed}:{c.source}").random())[:sample]  # noqa: S311


def _agrees(capture: Capture, found: MinedCase) -> str:
    return agreement(found.recorded, capture.run(found.case))
