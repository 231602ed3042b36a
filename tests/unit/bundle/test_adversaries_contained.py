"""Adversaries in containers: a few in every run of the tests that need an engine, all of them on request."""

from __future__ import annotations

import pytest

from programsmith.adversaries.registry import adversaries, chosen, defences
from programsmith.blocks import images, probe
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.base import DOCKER
from tests.contract.backends import base_image
from tests.unit.bundle.half import HalfSolution

pytestmark = pytest.mark.docker
BOOK = Rulebook(None)
KNOWN = adversaries(BOOK.load("adversaries"), defences(BOOK.load("defences")))
FEW = {
    "python": [
        "meets_in_shared",
        "meets_in_tree",
        "reads_tests",
        "steals_while_building",
        "fills_work",
        "delegates",
        "as_library",
        "maps_code",
        "reward_from_run",
        "imports_into_grader",
    ],
    "c": ["delegates", "delegates_by_shell", "floods_entries", "hostile_names", "build_litters", "hard_linked_answers"],
}
"""Those whose place is elsewhere in a container than in a view, and a link out of the submission."""
BESIDE = ["hostile_names", "hard_linked_answers", "sparse_file", "shims", "reward_shipped", "packed_code"]


@pytest.fixture
def contained(toys, tmp_path):
    """Makes the task of a language as one whose submissions are graded in its image."""

    def make(language):
        base_image(language)
        toy = toys(language, language).copy(tmp_path / "toy")
        toy.spec["sandbox"] = DOCKER
        images.run(toy.job("images"))
        return toy

    return make


def probed(toy, wanted):
    """The probe's evidence, where nobody got anything and whoever can be live in a container is."""
    toy.spec["probe"] = {"adversaries": wanted, "model": None}
    outcome = probe.run(toy.job("probe"))
    assert outcome.word is Word.CLEAN, outcome.reason
    rows = {row["id"]: row for row in outcome.evidence["rows"]}
    assert list(rows) == [one.id for one in chosen(KNOWN, wanted, toy.manifest.target_language)]
    assert {row["reward"] for row in rows.values()} == {0}
    assert outcome.evidence["duds"] == []
    assert {name for name, row in rows.items() if row["live"] is None} == {
        name for name in rows if DOCKER not in KNOWN[name].backends
    }
    return outcome.evidence


@pytest.mark.parametrize("language", list(FEW))
def test_what_is_elsewhere_in_a_container_is_closed_and_opened_there_too(contained, language):
    evidence = probed(contained(language), FEW[language])
    assert evidence["live"] == sum(DOCKER in KNOWN[name].backends for name in FEW[language])


def test_what_lies_beside_a_half_solution_in_a_container_changes_nothing(contained, tmp_path):
    half = HalfSolution(contained("python"), tmp_path / "half", "python", BESIDE)
    assert half.grades(at_once=2) == half.wanted


@pytest.mark.soak
@pytest.mark.adversary
@pytest.mark.parametrize("language", list(FEW))
def test_every_adversary_is_stopped_and_live_in_a_container(contained, language):
    evidence = probed(contained(language), "all")
    assert evidence["not_s"] == 1
    assert (evidence["live"], evidence["defences"]) >= (60, 20)
    print(evidence["live"], "live over", evidence["defences"], "defences, of", len(evidence["rows"]))


@pytest.mark.soak
@pytest.mark.adversary
@pytest.mark.parametrize("language", list(FEW))
def test_a_half_solution_keeps_its_fraction_beside_each_of_them_in_a_container(contained, tmp_path, language):
    half = HalfSolution(contained(language), tmp_path / "half", language)
    assert half.grades(at_once=2) == half.wanted
    print(len(half.wanted), "gradings of a half-solution")
