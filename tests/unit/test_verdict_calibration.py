"""Calibration: posteriors and sequential decisions, checked against closed forms and against simulation."""

from __future__ import annotations

import random

import pytest

from programsmith.records.trial import Pair
from programsmith.verdict.calibration import Band, Standing, Tally, beta_cdf, judge, read, wants_more

PAIR = Pair(agent="scripted", model="solver")
BAND = Band(low=0.0, high=0.4, confidence=0.8, trials_max=30)


def tally(k: int, n: int, agent: str = "scripted") -> Tally:
    return Tally(pair=Pair(agent=agent, model="solver"), k=k, n=n)


@pytest.mark.parametrize(
    ("x", "a", "b", "value"),
    [(0.3, 1, 1, 0.3), (0.5, 2, 2, 0.5), (0.4, 1, 7, 1 - 0.6**7), (0.4, 7, 1, 0.4**7), (0, 3, 3, 0), (1, 3, 3, 1)],
)
def test_the_beta_distribution_agrees_with_closed_forms(x: float, a: int, b: int, value: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(value)


def test_six_failures_of_six_are_in_a_band_up_to_forty_percent() -> None:
    assert read(tally(0, 6), BAND).standing is Standing.IN_BAND


def test_six_passes_of_six_are_too_easy_and_six_failures_below_a_minimum_too_hard() -> None:
    assert read(tally(6, 6), BAND).standing is Standing.TOO_EASY
    floor = Band(low=0.5, high=1.0, confidence=0.8, trials_max=12)
    assert read(tally(0, 6), floor).standing is Standing.TOO_HARD


def test_a_band_is_judged_on_the_strongest_pair() -> None:
    assert judge([tally(0, 6, "weak"), tally(6, 6, "strong")], BAND).standing is Standing.TOO_EASY


def test_more_is_wanted_below_the_first_batch_and_never_beyond_the_maximum() -> None:
    assert wants_more([tally(0, 3)], BAND, 6)
    assert not wants_more([tally(0, 6)], BAND, 6)
    assert wants_more([tally(2, 6)], BAND, 6)
    assert not wants_more([tally(12, 30)], BAND, 6)


@pytest.mark.parametrize(("rate", "wrong_max", "trials_max"), [(0.10, 0.10, 10), (0.60, 0.12, 12), (0.90, 0.10, 10)])
def test_decisions_are_right_at_the_promised_rate(rate: float, wrong_max: float, trials_max: float) -> None:
    chance = random.Random(7)
    wrong = bought = 0
    runs = 400
    for _ in range(runs):
        k = n = 0
        while wants_more([tally(k, n)], BAND, 6):
            batch = 6 if n == 0 else 3
            k += sum(chance.random() < rate for _ in range(batch))
            n += batch
        bought += n
        wrong += (judge([tally(k, n)], BAND).standing is Standing.IN_BAND) != (rate <= BAND.high)
    assert wrong / runs <= wrong_max
    assert bought / runs <= trials_max
