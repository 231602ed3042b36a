from __future__ import annotations

from programsmith.blocks import sanity
from programsmith.records.outcome import Word


def test_every_control_gets_what_it_must(toys):
    for pair in (("python", "python"), ("c", "python")):
        toy = toys(*pair)
        toy.rules = {"acceptance": {"nulls_max": 0.02}}
        outcome = sanity.run(toy.job("sanity"))
        assert outcome.word is Word.PASS, outcome
