"""The routes are total over the plan and name nothing else."""

from programsmith.compiler.plan import STEPS
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.verdict.routes import Go, Route, Routes

ROUTES = Routes(Rulebook(None).load("routes"))


def test_every_word_of_every_block_has_one_route():
    assert {pair for pair, _ in ROUTES} == {(step.block, word) for step in STEPS for word in step.says}


def test_there_is_no_word_that_no_block_says():
    assert {word for step in STEPS for word in step.says} == set(Word)


def test_a_revision_that_is_closed_is_not_revised():
    closing = {step.block for step in STEPS if step.closes}
    assert {route.go for (block, _), route in ROUTES if block in closing} == {Go.CONTINUE, Go.END}


def test_the_blocks_stand_in_the_order_of_the_plan():
    assert list(dict.fromkeys(block for (block, _), _ in ROUTES)) == [step.block for step in STEPS]


def test_before_images_a_no_ends_the_spec_and_from_images_on_it_is_mended():
    blocks = [step.block for step in STEPS]
    at = blocks.index("images")
    stops = {
        (b, w): r for (b, w), r in ROUTES if r.go not in (Go.CONTINUE, Go.MORE) and b not in ("gate", "synthesize")
    }
    assert stops[("pick", Word.PARKED)] == Route(Go.END, Word.PARKED)
    del stops[("pick", Word.PARKED)]
    before = set(blocks[:at])
    for (block, _), route in stops.items():
        assert route == (Route(Go.END, Word.REJECT) if block in before else Route(Go.SYNTHESIZE))


def test_only_blocks_that_judge_a_band_ask_for_more_trials():
    assert {pair for pair, route in ROUTES if route.go is Go.MORE} == {("calibrate", Word.MORE), ("sweep", Word.MORE)}


def test_only_a_verdict_worth_showing_is_exported():
    onward = {word for (block, word), _ in ROUTES if block == "gate" and ROUTES.goes_on(block, word)}
    assert onward == {Word.SHIP, Word.DRAFT, Word.SHELVE_EASY, Word.SHELVE_HARD}
