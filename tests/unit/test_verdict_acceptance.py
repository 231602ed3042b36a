"""From the records of a revision to a verdict."""

import dataclasses

import pytest

from programsmith.records.outcome import Record, Word
from programsmith.rulebook.load import Rulebook, packaged_schema
from programsmith.verdict.acceptance import Asked, factor, product, verdict
from programsmith.verdict.routes import Routes

ROUTES = Routes(Rulebook(None).load("routes"))
RULE = Rulebook(None).load("acceptance")
ASKED = Asked(name="t", rollouts=False, review=False, lines=2000, min_lines=1500, rule=RULE)
GOOD = {
    "ingest": Word.PASS,
    "matrix": Word.PASS,
    "pick": Word.PICKED,
    "oracle": Word.PASS,
    "goldens": Word.PASS,
    "create": Word.PASS,
    "images": Word.PASS,
    "strength": Word.PASS,
    "sanity": Word.PASS,
    "static": Word.PASS,
}


def record(block, word, **evidence):
    return Record(block=block, outcome=word, reason=f"because of {block}", evidence=evidence, inputs={}, seconds=0.0)


def records(upto=None, **words):
    found = {}
    for block, word in {**GOOD, **words}.items():
        found[block] = record(block, word)
        if block == upto:
            break
    return found


def judged(found, **asked):
    return verdict(found, ROUTES, dataclasses.replace(ASKED, **asked))


def test_all_good_without_rollouts_is_a_draft_whose_headroom_is_open():
    found = judged(records())
    assert found.outcome is Word.DRAFT
    assert (found.q, found.b, found.v, found.h, found.not_s) == (None, 1, 1, None, None)
    assert found.reasons == ("no_rollouts: the spec asks for no rollouts; unproven: h, not_s",)


TRIED = {"rollouts": Word.DONE, "triage": Word.DONE, "calibrate": Word.IN_BAND, "probe": Word.CLEAN}


def tried(**words):
    """Records of a revision whose trials were judged."""
    return records(**{**TRIED, **words})


def test_every_factor_at_one_ships():
    found = judged(tried(), rollouts=True)
    assert (found.outcome, found.q, found.b, found.v, found.h, found.not_s) == (Word.SHIP, 1, 1, 1, 1, 1)
    assert judged(tried(sweep=Word.IN_BAND), rollouts=True, sweep=True).outcome is Word.SHIP


@pytest.mark.parametrize(
    ("words", "outcome", "zero"),
    [
        ({"calibrate": Word.HARDEN}, Word.SHELVE_EASY, "h"),
        ({"calibrate": Word.EASE}, Word.SHELVE_HARD, "h"),
        ({"calibrate": Word.TOO_HARD}, Word.SHELVE_HARD, "h"),
        ({"calibrate": Word.BROKEN}, Word.DROP, "h"),
        ({"sweep": Word.HARDEN}, Word.SHELVE_EASY, "h"),
        ({"sweep": Word.TOO_HARD}, Word.SHELVE_HARD, "h"),
        ({"probe": Word.HACKED}, Word.DROP, "not_s"),
        ({"triage": Word.DEFECT}, Word.DROP, "v"),
    ],
)
def test_a_no_without_a_revision_left_goes_to_its_shelf(words, outcome, zero):
    found = judged(tried(**words), rollouts=True, sweep="sweep" in words, revision=3)
    assert found.outcome is outcome
    assert (found.q, getattr(found, zero)) == (0, 0)
    assert found.reasons[-1] == "no_revision: revision 3 is the last that the spec allows"


def test_a_revision_that_nothing_can_mend_says_what_was_tried():
    found = judged(tried(calibrate=Word.HARDEN, synthesize=Word.GAVE_UP), rollouts=True)
    assert found.outcome is Word.SHELVE_EASY
    assert found.reasons == ("calibrate_harden: because of calibrate", "synthesize_gave_up: because of synthesize")


def test_too_many_trials_without_a_label_do_not_ship():
    found = tried()
    found["calibrate"] = record("calibrate", Word.IN_BAND, unlabelled=0.2)
    assert (judged(found, rollouts=True).outcome, judged(found, rollouts=True).v) == (Word.DROP, 0)
    found["calibrate"] = record("calibrate", Word.IN_BAND, unlabelled=0.1)
    assert judged(found, rollouts=True).outcome is Word.SHIP


def test_a_probe_with_a_part_left_open_leaves_its_factor_open():
    found = tried()
    found["probe"] = record("probe", Word.CLEAN, not_s=None)
    judgement = judged(found, rollouts=True)
    assert (judgement.outcome, judgement.q, judgement.not_s) == (Word.DRAFT, None, None)
    assert judgement.reasons == ("unjudged: no block has judged not_s",)
    swept = found | {"sweep": record("sweep", Word.IN_BAND)}
    assert judged(swept, sweep=True).reasons == judgement.reasons  # it asks for trials, if for no rollouts


def test_a_probe_without_a_model_leaves_its_factor_open_where_real_models_try():
    found = tried()
    found["probe"] = record("probe", Word.CLEAN, not_s=1, counts={"scripted": "0/20", "model": "none"})
    assert judged(found, rollouts=True).not_s == 1
    open_ = judged(found, rollouts=True, models=True)
    assert open_.not_s is None
    assert any(reason.startswith("unprobed: ") for reason in open_.reasons)
    found["probe"] = record("probe", Word.CLEAN, not_s=1, counts={"scripted": "0/20", "model": "0/3"})
    assert judged(found, rollouts=True, models=True).outcome is Word.SHIP


def test_bands_without_trials_prove_no_headroom():
    assert judged(tried()).h is None


def test_a_sweep_that_has_not_settled_leaves_headroom_open():
    assert judged(tried(), rollouts=True, sweep=True).h is None


def test_a_warning_of_calibrate_is_a_reason():
    found = tried()
    found["calibrate"] = record("calibrate", Word.IN_BAND, warnings=["unbanded_sweep: x"])
    assert judged(found, rollouts=True).reasons[-1] == "unbanded_sweep: x"


def test_a_short_task_is_a_draft_and_says_so_first():
    found = judged(records(), lines=1499)
    assert found.outcome is Word.DRAFT
    assert found.reasons[0] == "short_horizon: 1499 code lines in scope, horizon.min_lines wants 1500"
    assert judged(records(), lines=1500).reasons[0].startswith("no_rollouts")


def test_a_lowered_horizon_is_recorded():
    found = judged(records(), lines=400, min_lines=300)
    assert found.reasons[-1] == "horizon_lowered: the spec lowers horizon.min_lines from 1500 to 300"
    assert not any(r.startswith("short_horizon") for r in found.reasons)


def test_the_rule_knows_the_default_horizon_of_specs():
    default = packaged_schema("spec")["properties"]["horizon"]["properties"]["min_lines"]["default"]
    assert Rulebook(None).load("acceptance")["horizon_min_lines"] == default


@pytest.mark.parametrize(
    ("block", "word"),
    [
        ("ingest", Word.REJECT),
        ("matrix", Word.NONE_FIT),
        ("pick", Word.NONE_FIT),
        ("oracle", Word.UNBUILDABLE),
        ("oracle", Word.TOOLCHAIN_TOO_OLD),
        ("goldens", Word.TOO_THIN),
    ],
)
def test_a_no_before_images_rejects_with_every_factor_open(block, word):
    found = judged(records(upto=block, **{block: word}), lines=None)
    assert found.outcome is Word.REJECT
    assert (found.q, found.b, found.v) == (None, None, None)
    assert found.reasons == (f"{block}_{word}: because of {block}",)


def test_a_parked_pick_parks_the_spec():
    assert judged(records(upto="pick", pick=Word.PARKED)).outcome is Word.PARKED


@pytest.mark.parametrize(
    ("block", "word", "b", "v"),
    [
        ("images", Word.UNBUILDABLE, 0, None),
        ("strength", Word.TOO_WEAK, None, 0),
        ("static", Word.FAIL, 1, 0),
    ],
)
def test_a_no_that_nothing_can_mend_drops(block, word, b, v):
    found = judged(records(upto=block, **{block: word}))
    assert found.outcome is Word.DROP
    assert (found.q, found.b, found.v) == (0, b, v)
    assert found.reasons[0] == f"{block}_{word}: because of {block}"


@pytest.mark.parametrize(
    ("failed", "b", "v"),
    [(["table"], 0, 1), (["null_echo"], 1, 0), (["nop", "null_echo"], 0, 0), ([], 0, 0)],
)
def test_a_failed_control_counts_against_the_factor_that_it_proves(failed, b, v):
    rows = [{"id": i, "fault": "bad"} for i in failed] + [{"id": "golden_replay", "fault": ""}]
    found = {**records(), "sanity": record("sanity", Word.FAIL, controls=rows)}
    judgement = judged(found)
    assert (judgement.b, judgement.v) == (b, v)
    assert judgement.outcome is Word.DROP


def test_every_no_is_a_reason_and_the_first_in_the_pipeline_decides():
    found = judged(records(strength=Word.TOO_WEAK, static=Word.FAIL))
    assert [r.partition(":")[0] for r in found.reasons] == ["strength_too_weak", "static_fail", "no_revision"]


def test_a_gate_under_review_parks_with_the_command():
    found = judged(records(), review=True)
    assert found.outcome is Word.PARKED
    assert found.reasons[0].endswith("programsmith build spec=t approve=gate")


def test_a_no_is_not_held_back_by_a_review():
    assert judged(records(static=Word.FAIL), review=True).outcome is Word.DROP


def test_a_judge_that_has_not_settled_is_no_verdict():
    with pytest.raises(ValueError, match="wanted the records of strength, sanity, static, triage, got not all of them"):
        judged(records(upto="sanity"))


def test_environments_come_from_images():
    found = records()
    found["images"] = record("images", Word.PASS, kind="bubblewrap", fingerprint="ab", views={})
    assert judged(found).environments == ({"kind": "bubblewrap", "fingerprint": "ab"},)


@pytest.mark.parametrize(
    ("factors", "q"),
    [((1, 1, 1, 1), 1), ((1, 0, None, 1), 0), ((1, None, 1, 1), None), ((None, None, None, None), None)],
)
def test_q_is_zero_by_any_zero_and_open_by_any_gap(factors, q):
    assert product(factors) == q


def test_a_factor_without_judges_is_open():
    assert factor((), "h", records(), ROUTES) is None
