"""Bands against labelled trials: one word, decided by who passed and by whether it can be passed at all."""

import pytest

from programsmith.records.outcome import Word
from programsmith.records.trial import Pair
from programsmith.verdict.bands import demands, headroom, judge_bands, warnings
from programsmith.verdict.calibration import tallies
from tests.samples.trials import BANDS, attempt, labels, runs


def band(low=0.0, high=1.0, *, basis="rollouts", confidence=0.8, trials_max=12):
    return {
        "basis": basis,
        "pass_rate": {"min": low, "max": high},
        "confidence": confidence,
        "trials_max": trials_max,
    }


def judged(found, *difficulty, basis="rollouts", **rest):
    return judge_bands(demands(difficulty), basis, found, BANDS, **rest)


def word(found, *difficulty, **rest):
    return judged(found, *difficulty, **rest).word


CEILING = attempt(0, ceiling=True)


@pytest.mark.parametrize(
    ("passes", "of", "limits", "wanted"),
    [
        (1, 6, (0.1, 0.9), Word.IN_BAND),
        (3, 6, (0.1, 0.9), Word.IN_BAND),
        (6, 6, (0.0, 0.4), Word.HARDEN),
        (1, 6, (0.6, 1.0), Word.EASE),
        (3, 6, (0.0, 0.4), Word.MORE),
        (1, 3, (0.0, 0.4), Word.MORE),
        (6, 12, (0.0, 0.5), Word.HARDEN),
        (6, 12, (0.5, 1.0), Word.EASE),
    ],
)
def test_a_band_is_judged_on_its_trials(passes, of, limits, wanted):
    assert word(labels(*runs(passes, of)), band(*limits)) is wanted


def test_undecided_at_the_maximum_is_said_and_counts_as_not_in_band():
    found = judged(labels(*runs(5, 12)), band(0.0, 0.4))
    assert found.word is Word.HARDEN
    assert found.evidence["bands"][0]["standing"] == "undecided"
    assert "undecided" in found.reason


def test_no_band_is_in_band_where_it_is_solvable():
    assert word(labels(*runs(1, 3))) is Word.IN_BAND
    assert word(labels(*runs(0, 3))) is Word.TOO_HARD
    assert word(labels()) is Word.IN_BAND


def test_nobody_who_passes_is_too_hard_though_the_rate_is_in_band():
    assert word(labels(*runs(0, 6)), band(0.0, 0.4)) is Word.TOO_HARD


def test_a_ceiling_trial_shows_that_it_can_be_passed_where_the_rest_can_be_found_out():
    found = labels(*runs(0, 6), CEILING)
    assert judged(found, band(0.0, 0.4)).evidence["solvable"] == {"by": "ceiling", "open": []}
    assert word(found, band(0.0, 0.4)) is Word.IN_BAND


@pytest.mark.parametrize("facts", [{"unshown": ["h1"]}, {"unseen": ["h1"]}])
def test_a_ceiling_trial_proves_nothing_of_a_case_that_only_the_source_tells(facts):
    found = labels(*runs(0, 6), CEILING, **facts)
    assert word(found, band(0.0, 0.4)) is Word.TOO_HARD
    assert judged(found).evidence["solvable"] == {"by": None, "open": ["h1"]}


def test_a_case_that_somebody_passed_need_not_be_shown():
    found = labels(attempt(0, ["h1"]), attempt(1, ["h2"], ["p2"]), CEILING, unseen=["h1"])
    assert judged(found).evidence["solvable"]["by"] == "ceiling"


def test_a_reward_that_was_not_earned_solves_nothing():
    found = labels(*[attempt(i, public=["p1", "p2"]) for i in range(6)])
    assert word(found, band(0.5, 1.0)) is Word.TOO_HARD


def test_ceiling_trials_enter_no_rate():
    found = labels(*runs(1, 6), *[attempt(i, ceiling=True) for i in range(6)])
    assert judged(found, band(0.0, 0.5)).evidence["bands"][0]["n"] == 6


def test_equal_artifacts_of_an_agent_that_its_seed_decides_count_once():
    same = [attempt(i, agent="scripted", artifact="a") for i in range(6)]
    two = [attempt(i, ["h1"], ["p1"], agent="scripted", artifact="b") for i in range(6, 8)]
    (counted,) = tallies(labels(*same, *two).trials, BANDS.repeatable)
    assert (counted.k, counted.n, counted.bought) == (1, 2, 8)
    (paid,) = tallies(labels(*[attempt(i, artifact="a") for i in range(6)]).trials, BANDS.repeatable)
    assert (paid.k, paid.n) == (6, 6)


def test_an_agent_of_one_artifact_is_not_asked_again_and_decides_nothing():
    found = judged(labels(*[attempt(i, agent="scripted", artifact="a") for i in range(6)]), band(0.0, 0.4))
    assert found.word is Word.HARDEN
    assert found.evidence["bands"][0]["n"] == 1


def test_a_band_on_one_pair_reads_that_pair():
    weak, strong = runs(0, 6, agent="weak"), runs(6, 6, agent="strong")
    found = labels(*weak, *strong)
    assert word(found, band(0.0, 0.4, basis={"agent": "weak", "model": "m"})) is Word.IN_BAND
    assert word(found, band(0.0, 0.4, basis={"agent": "strong", "model": "m"})) is Word.HARDEN
    assert word(found, band(0.0, 0.4)) is Word.HARDEN


def test_bands_that_contradict_each_other_are_broken():
    found = labels(*runs(0, 6, agent="weak"), *runs(6, 6, agent="strong"))
    both = (band(0.6, 1.0, basis={"agent": "weak", "model": "m"}), band(0.0, 0.4))
    assert word(found, *both) is Word.BROKEN


def test_too_many_trials_without_a_label_are_broken():
    found = labels(attempt(0), attempt(1), *[attempt(i, ["h1"]) for i in range(2, 6)], attempt(6, ["h1"]))
    assert word(found, band(0.1, 0.9)) is Word.IN_BAND  # the passes reach it
    lone = labels(*[attempt(i, ["h1"]) for i in range(6)], attempt(0, ["h2"], ceiling=True))
    assert word(lone, band(0.0, 0.4), final=False) is Word.IN_BAND
    none = labels(*[attempt(i, ["h1"]) for i in range(6)])
    assert judged(none, band(0.0, 0.4), final=False).word is Word.BROKEN


def test_a_band_on_the_sweep_asks_nothing_of_the_rollouts():
    found = labels(*runs(6, 6))
    assert word(found, band(0.0, 0.4, basis="sweep")) is Word.IN_BAND
    assert word(found, band(0.0, 0.4, basis="sweep"), basis="sweep") is Word.HARDEN


def test_trials_on_another_basis_show_that_it_can_be_passed():
    rollouts, sweep = labels(*runs(0, 6)), labels(*runs(1, 6, agent="strong"))
    assert word(rollouts, band(0.0, 0.4), final=False) is Word.IN_BAND
    assert word(rollouts, band(0.0, 0.4, basis="sweep"), basis="sweep", before=sweep.trials) is Word.IN_BAND


def test_headroom_is_the_difference_of_rates_with_its_interval():
    found = headroom(labels(*runs(2, 8), attempt(0, ceiling=True), attempt(1, ceiling=True)), BANDS)
    assert (found["ceiling"], found["rollouts"], found["difference"]) == ([2, 2], [2, 8], 0.75)
    low, high = found["interval"]
    assert 0 < low < 0.75 < high <= 1
    assert headroom(labels(*runs(2, 8)), BANDS) is None


def test_newcombes_interval_agrees_with_his_example():
    ceiling = [attempt(i, *(() if i < 56 else (["h1"], ["p1"])), ceiling=True) for i in range(70)]
    found = headroom(labels(*runs(48, 80), *ceiling), BANDS)
    assert found["interval"] == [pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4)]


def test_a_sweep_without_a_band_on_it_is_warned():
    pair = Pair(agent="codex", model="p/m")
    assert warnings(demands([band()]), [pair])[0].startswith("unbanded_sweep: the sweep over codex/p/m cannot fail")
    assert warnings(demands([band(basis="sweep")]), [pair]) == ()
    assert warnings(demands([band(basis={"agent": "codex", "model": "p/m"})]), [pair]) == ()
    assert warnings(demands([band()]), []) == ()
