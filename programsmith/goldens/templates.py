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

NEVER_ENDS = "never_ends"  # what a program does that asks again and again for what it is not given
_FIRST = 5  # of a sample: a template with which none of these agrees is not tried on the rest


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
        chosen = _sampled(cases, sample, seed)
        words = try_all(chosen[:1])
        if words != [NEVER_ENDS]:
            words += try_all(chosen[1:_FIRST])
        if AGREE in words:
            words += try_all(chosen[_FIRST:])
        words = [w for w in words if w != ABSENT]
        tried[template] = (words.count(AGREE), len(words))
        if words and words.count(AGREE) >= share * len(words):
            return Choice(taken=template, tried=tried)
    return Choice(taken=None, tried=tried)


def _sampled(cases: Iterable[MinedCase], sample: int, seed: int) -> list[MinedCase]:
    """A seeded sample by source, so that every template is tried on the same tests; first those that expect something.

    A program that is called wrongly prints nothing, which tests that expect nothing would take for agreement.
    """

    def order(case: MinedCase) -> tuple[bool, float]:
        says = case.recorded.stdout is None or case.recorded.stdout.strip() != b""
        return not says, random.Random(f"{seed}:{case.source}").random()  # noqa: S311 - a seeded order, not a secret

    return sorted(cases, key=order)[:sample]


def _agrees(capture: Capture, found: MinedCase) -> str:
    result = capture.run(found.case)
    return NEVER_ENDS if result.limits_hit & {"cpu", "wall", "output"} else agreement(found.recorded, result)
