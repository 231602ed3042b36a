"""One label per trial, with its proof."""

import pytest

from programsmith.records.trial import Label
from tests.samples.trials import attempt, labels


def label(of, *others, **facts):
    found = labels(of, *others, **facts)
    (own,) = [t for t in found.trials if (t.index, t.ceiling) == (of.index, of.ceiling)]
    return own.label, own.proof


GOOD, BAD, NONE = Label.GOOD_FAILURE, Label.BAD_FAILURE, Label.UNLABELLED


@pytest.mark.parametrize(
    ("trial", "others", "facts", "wanted"),
    [
        # positive proof
        (attempt(0, ["h1"], ["p1"]), [], {}, (GOOD, "public_fails_too")),
        (attempt(0, ["h1"]), [attempt(1, ["h2"])], {}, (GOOD, "reached_by_a_trial")),
        (attempt(0, ["h1"]), [attempt(0, ceiling=True)], {}, (GOOD, "reached_by_the_ceiling")),
        (attempt(0, ["h1"]), [], {"queried": ["one"]}, (GOOD, "reached_by_a_query")),
        (attempt(0, ["h1", "h2"], ["p2"]), [], {"unshown": ["h1"]}, (GOOD, "public_fails_too")),
        # what ended its verifier each time is its own doing, whatever the cases lack
        (attempt(0, ["h1"], hostile=True), [], {"unshown": ["h1"]}, (GOOD, "hostile")),
        # no proof of anything
        (attempt(0, ["h1"]), [], {}, (NONE, "no_proof")),
        (attempt(0, ["h1"], ["p2"]), [attempt(1, ["h1"])], {}, (NONE, "no_proof")),
        # ours to mend
        (attempt(0, ["h1"]), [], {"unshown": ["h1"]}, (BAD, "unshown")),
        (attempt(0, ["h1"], ["p1"]), [attempt(1)], {"unshown": ["h1"]}, (BAD, "unshown")),
        (attempt(0, ["h1"]), [attempt(1, ["h1"])], {"unseen": ["h1"]}, (BAD, "unseen")),
        (attempt(0, ["h1", "h2"]), [], {"unshown": ["h1"], "unseen": ["h2"]}, (BAD, "unshown")),
        # what is unseen can be known where somebody knew it, or where a public case of the family fails too
        (attempt(0, ["h1"]), [attempt(1)], {"unseen": ["h1"]}, (GOOD, "reached_by_a_trial")),
        (attempt(0, ["h1"], ["p1"]), [], {"unseen": ["h1"]}, (GOOD, "public_fails_too")),
        # nobody can, not even with the source
        (attempt(0, ["h1"]), [attempt(1, ["h1"]), attempt(0, ["h1"], ceiling=True)], {}, (BAD, "out_of_reach")),
        (attempt(0, ["h1", "h2"]), [attempt(0, ["h1"], ceiling=True)], {}, (GOOD, "reached_by_the_ceiling")),
        (attempt(0, ["h1"], ["p1"]), [attempt(0, ["h1"], ceiling=True)], {}, (GOOD, "public_fails_too")),
    ],
)
def test_a_failure_has_the_label_that_is_proven(trial, others, facts, wanted):
    assert label(trial, *others, **facts) == wanted


@pytest.mark.parametrize(
    ("word", "near", "public", "wanted"),
    [
        ("TLE_CPU", ["h1"], [], BAD),
        ("TLE_WALL", ["h1"], {"p1": "TLE_CPU"}, BAD),
        ("TLE_CPU", [], [], NONE),
        ("WA_STDOUT", ["h1"], [], NONE),
        ("TLE_CPU", ["h1"], ["p2"], NONE),
        ("MLE", ["h1"], [], NONE),
    ],
)
def test_a_limit_of_ours_counts_against_us_only_near_it_and_with_right_public_answers(word, near, public, wanted):
    trial = attempt(0, {"h1": word}, public, near_limit=frozenset(near))
    assert label(trial)[0] is wanted


def test_a_success_is_good_without_a_signal_and_bad_with_one():
    assert label(attempt(0)) == (Label.GOOD_SUCCESS, "no_signal")
    assert label(attempt(0, public=["p1"])) == (Label.GOOD_SUCCESS, "no_signal")
    assert label(attempt(0, public=["p1", "p2"])) == (Label.BAD_SUCCESS, "public_fails")
    assert label(attempt(0, word="POLICY", failing={"h1": "NOT_RUN"}, reward=1.0)) == (Label.BAD_SUCCESS, "refused")


def test_a_submission_that_does_not_build_fails_where_its_author_could_see_it():
    everything = attempt(0, ["h1", "h2", "h3"], ["p1", "p2"], word="BUILD_FAIL")
    assert label(everything) == (GOOD, "public_fails_too")


def test_a_share_of_the_reward_is_no_success():
    assert label(attempt(0, ["h1"], ["p1"], reward=0.9)) == (GOOD, "public_fails_too")


def test_a_proof_names_the_cases_that_are_it():
    found = labels(attempt(0, ["h1", "h2", "h3"], ["p2"]))
    assert found.trials[0].cases == ("h2", "h3")
    assert found.trials[0].failing == ("h1", "h2", "h3")


def test_infra_has_no_label_and_is_named():
    found = labels(attempt(0), infra={"command/m:1": "no grade"})
    assert len(found.trials) == 1
    assert found.infra == {"command/m:1": "no grade"}


def test_what_nobody_without_privilege_reaches_is_named_whatever_the_ceiling_does():
    found = labels(attempt(0, ["h1", "h2"]), attempt(1, ["h2", "h3"]), attempt(0, ceiling=True))
    assert found.unreached == ("h2",)
    assert labels().unreached == ("h1", "h2", "h3")


def test_a_case_is_untold_where_one_fails_it_who_passes_every_public_case_of_its_family():
    seen, careful = attempt(0, ["h2"], ["p2"]), attempt(1, ["h2"], ["p1"])
    knowing = attempt(0, ceiling=True)
    assert labels(seen, careful, knowing).untold == ("h2",)
    assert labels(seen, attempt(1, ["h2"], ["p2"]), knowing).untold == ()
    assert labels(careful, attempt(2), knowing).untold == ()  # one without the source passes it
    assert labels(careful, knowing, queried=["two"]).untold == ()
    assert labels(knowing).untold == ()  # nobody tried without the source
