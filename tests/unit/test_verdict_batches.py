from __future__ import annotations

from typing import Any

import pytest

from programsmith.records.trial import Assignment, Pair, pair_of
from programsmith.verdict.batches import Sizes, assignments, attacks, bands_on, entries_of

SIZES = Sizes(first=6, further=3)


def scripted(trials: int = 6, script: str = "specs/x/solver.py") -> dict[str, Any]:
    return {"agent": "scripted", "model": None, "script": script, "trials": trials}


def band(trials_max: int = 12, basis: Any = "rollouts") -> dict[str, Any]:
    return {"basis": basis, "pass_rate": {"min": 0.0, "max": 0.9}, "confidence": 0.8, "trials_max": trials_max}


def indices(found: tuple[Assignment, ...]) -> list[int]:
    return [a.index for a in found if not a.ceiling]


def test_an_adversarys_tries_come_all_at_once_and_lie_apart() -> None:
    assert attacks(None) == ()
    own = attacks({"agent": "codex", "model": "openai/x", "trials": 2, "usd": 1})
    assert [(one.index, one.batch, one.ceiling) for one in own] == [(0, 0, False), (1, 0, False)]
    assert own[1].folder == "adversary/codex-openai-x/1"
    assert own[1].name == "adversary:codex:openai-x:1"


def test_the_first_batch_has_the_entrys_trials_and_the_rules_minimum_under_a_band() -> None:
    bought = [assignments([scripted(n)], None, 0, difficulty=[band()], sizes=SIZES) for n in (2, 8)]
    assert [len(b) for b in bought] == [6, 8]


def test_without_a_band_the_entrys_trials_are_all_there_are() -> None:
    assert indices(assignments([scripted(2)], None, 0, difficulty=[], sizes=SIZES)) == [0, 1]
    assert assignments([scripted(2)], None, 1, difficulty=[], sizes=SIZES) == ()


def test_further_batches_go_on_where_the_last_ended_and_stop_at_the_maximum() -> None:
    batches = [indices(assignments([scripted()], None, j, difficulty=[band(11)], sizes=SIZES)) for j in range(4)]
    assert batches == [[0, 1, 2, 3, 4, 5], [6, 7, 8], [9, 10], []]


def test_a_maximum_below_the_first_batch_bounds_it() -> None:
    assert indices(assignments([scripted(8)], None, 0, difficulty=[band(4)], sizes=SIZES)) == [0, 1, 2, 3]
    assert indices(assignments([scripted(8)], None, 1, difficulty=[band(4)], sizes=SIZES)) == []


def test_ceiling_trials_come_once_and_have_indices_of_their_own() -> None:
    ceiling = scripted(2, "specs/x/port.py")
    first = assignments([scripted()], ceiling, 0, difficulty=[band()], sizes=SIZES)
    assert [(a.model, a.index) for a in first if a.ceiling] == [("port", 0), ("port", 1)]
    assert not any(a.ceiling for a in assignments([scripted()], ceiling, 1, difficulty=[band()], sizes=SIZES))


def test_a_band_on_one_pair_buys_more_of_that_pair_alone() -> None:
    entries = [scripted(), scripted(script="specs/x/other.py")]
    bands = [band(basis={"agent": "scripted", "model": None, "script": "specs/x/other.py"})]
    assert [a.model for a in assignments(entries, None, 1, difficulty=bands, sizes=SIZES)] == ["other"] * 3


def test_a_band_on_the_sweep_asks_nothing_of_the_rollouts() -> None:
    assert bands_on(scripted(), "rollouts", [band(basis="sweep")]) == []
    assert bands_on(scripted(), "sweep", [band(basis="sweep")]) != []


def test_a_sweep_is_the_cross_product_but_for_exceptions() -> None:
    sweep = {"agents": ["a", "b"], "models": ["m/1", "m/2"], "trials": 4, "except": [{"agent": "b", "model": "m/1"}]}
    found = entries_of(sweep)
    assert [(e["agent"], e["model"], e["trials"]) for e in found] == [("a", "m/1", 4), ("a", "m/2", 4), ("b", "m/2", 4)]


def test_a_sweep_of_pairs_is_its_list_and_none_is_empty() -> None:
    assert entries_of([scripted()]) == (scripted(),)
    assert entries_of(None) == ()


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        (scripted(), "solver"),
        ({"agent": "command", "model": None, "command": "/usr/bin/solve -x"}, "solve"),
        ({"agent": "command", "model": "p/m", "command": None}, "p/m"),
        ({"agent": "nop", "model": None}, "none"),
    ],
)
def test_every_entry_has_a_model_to_be_called_by(entry: dict[str, Any], model: str) -> None:
    assert pair_of(entry) == Pair(agent=entry["agent"], model=model)


def test_folders_of_trials_are_paths_of_two_plain_parts() -> None:
    entry = {"agent": "codex", "model": "openai/../gpt 5", "trials": 1}
    (one,) = assignments([entry], None, 0, difficulty=[], sizes=SIZES)
    assert one.folder == "codex-openai-..-gpt-5/0"
    assert Assignment(agent="x", model="../..", index=0, batch=0, ceiling=True).folder == "ceiling/x-none/0"


def test_a_cross_product_gives_a_command_line_to_command_alone() -> None:
    sweep = {"agents": ["command", "codex"], "models": ["p/a", "p/b"], "command": "sh x", "usd": 0.5, "trials": 3}
    pairs = entries_of({**sweep, "except": [{"agent": "codex", "model": "p/b"}]})
    own = {"command": "sh x", "usd": 0.5}
    assert pairs == (
        {"agent": "command", "model": "p/a", "trials": 3, **own},
        {"agent": "command", "model": "p/b", "trials": 3, **own},
        {"agent": "codex", "model": "p/a", "trials": 3, "usd": 0.5},
    )
