"""Programs with a known verdict, through the whole path: received, held to the policy, built, run, compared."""

from __future__ import annotations

import dataclasses

import pytest

from programsmith.adversaries.cut import Choice, cut
from programsmith.bundle.grade import grade_all
from programsmith.bundle.sides import read_sides
from programsmith.payload.verifier.tree import write_tree
from tests.samples.programs import BUILDS, CASES, PROGRAMS, files

LIMITS = {
    "cpu_floor_seconds": 0.5,
    "cpu_factor": 1,
    "wall_extra_seconds": 60,
    "memory_bytes": 128 << 20,
    "pids": 32,
    "output_extra_bytes": 1 << 16,
    "work_bytes": 8 << 20,
    "work_files": 64,
}
ROWS = [(language, one) for language, rows in PROGRAMS.items() for one in rows]


@pytest.fixture(scope="module")
def graded(toys, tmp_path_factory):
    """The grade of each program, those of one language in one verifier."""
    made = {}

    def get(language):
        if language not in made:
            made[language] = grade(toys(language, language), language, tmp_path_factory.mktemp(language))
        return made[language]

    return get


def grade(toy, language, folder):
    few = bench(toy, folder / "few")
    places = {}
    for number, one in enumerate(PROGRAMS[language]):
        write_tree(str(folder / f"{number}"), files(language, one))
        places[folder / f"{number}.out"] = folder / f"{number}"
    grades = grade_all(few, places, toy.path("r/environments.json"))
    return {one.id: found for one, found in zip(PROGRAMS[language], grades, strict=True)}


def bench(toy, folder):
    """A bundle of the four cases alone, all of them held out."""
    sides, ids = read_sides(toy.bundle), tuple(c.id for c in CASES)
    plan = dataclasses.replace(sides.plan, held_out=ids, public=())
    whole = dataclasses.replace(sides, held_out=sides.all, plan=plan)
    assert (
        len(cut(whole, toy.bundle, Choice(ids=ids, count=len(ids), limits=LIMITS, whole=False), folder).held_out) == 4
    )
    return folder


@pytest.mark.parametrize(("language", "one"), ROWS, ids=[f"{language}: {one.id}" for language, one in ROWS])
def test_a_program_gets_its_verdict(graded, language, one):
    found = graded(language)[one.id]
    got = [found.details["cases"]["held_out"][case.id] for case in CASES]
    if one.words in BUILDS:
        assert (found.word, set(got), found.reward) == (one.words, {"NOT_RUN"}, 0)
        return
    assert all(word in wanted for word, wanted in zip(got, one.wanted, strict=True)), (got, found.reason)
    passed = got.count("AC")
    assert found.details["fraction"] == passed / len(CASES)
    assert found.reward == (passed == len(CASES))
    assert found.details["near_limit"] == ([CASES[0].id] if one.near else [])


def test_there_are_sixty_programs_and_each_word_that_a_program_can_earn():
    assert len(ROWS) >= 60
    assert all(len({one.id for one in rows}) == len(rows) >= 30 for rows in PROGRAMS.values())
    words = {word for _, one in ROWS for wanted in one.wanted for word in wanted}
    assert words >= {
        "AC",
        "WA_STDOUT",
        "WA_EXIT",
        "WA_FILES",
        "WA_STDERR",
        "TLE_CPU",
        "MLE",
        "OLE",
        "SIGNAL",
        "NOT_RUN",
    }
    assert words >= BUILDS
