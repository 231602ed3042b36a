"""Each defence removed alone from a small bundle turns checks red: all of those that rules/defences.yaml names."""

from __future__ import annotations

import dataclasses

import pytest

from programsmith.adversaries.registry import adversaries, defences
from programsmith.adversaries.weaken import Spoils, weaken
from programsmith.blocks import static
from programsmith.bundle.manifest import digests
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import read_bundle
from programsmith.checks.registry import CHECKS
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.rulebook.load import Rulebook
from tests.unit.bundle.spoiled import RUNNING

BOOK = Rulebook(None)
DEFENCES = defences(BOOK.load("defences"))
KNOWN = adversaries(BOOK.load("adversaries"), DEFENCES)
COMPARING = {"verifier_program", "verifier_switches"}  # red for any change of a program, whatever it does
BAR = 0.95
ONLY_PROBED = {  # no check tries these: static compares the verifier's program, and the probe shows what it does
    *("no_made_code", "no_code_in_work", "build_bounded", "artifact_bounded", "regular_files_only"),
    *("bytes_stay_bytes", "comparators_bounded", "grader_starts_nothing", "own_tests", "streams_apart"),
}
WATCHES = {check: [d.id for d in DEFENCES.values() if check in d.watched_by] for check in CHECKS}


def without(toy, folder, defence):
    """Take the defence away from the toy's bundle, as if create had written it so."""
    twin = (FileEntry(b"rot", "file", 0o755, b"#!/bin/sh\n"),)
    spoils = Spoils(sides=read_sides(toy.bundle), solution=solution(toy.bundle), pointer="5f0c1d2e3b4a", twin=twin)
    weak = weaken(toy.bundle, defence, folder / "weak", spoils)
    toy.bundle.rename(folder / "whole")
    weak.rename(toy.bundle)
    tree, files = digests(read_bundle(toy.bundle).values())
    codec.dump(toy.path("r/manifest.json"), dataclasses.replace(toy.manifest, tree=tree, files=files))


def red(toy, names):
    """Those of the named checks that fail."""
    rows = [row for row in BOOK.load("checks")["checks"] if row["id"] in names]
    toy.rules = {"checks": {"checks": rows}}
    return {row["id"] for row in static.run(toy.job("static")).evidence["checks"] if not row["passed"]}


@pytest.mark.parametrize("defence", sorted(DEFENCES))
def test_every_check_that_looks_for_a_defence_goes_red_without_it(toy, tmp_path, defence):
    looking = set(DEFENCES[defence].watched_by) - set(RUNNING)
    assert looking
    without(toy, tmp_path, defence)
    assert red(toy, looking) == looking


@pytest.mark.parametrize("check", [check for check in RUNNING if WATCHES[check]])
def test_every_check_that_runs_something_goes_red_without_a_defence(toy, tmp_path, check):
    without(toy, tmp_path, WATCHES[check][0])
    assert red(toy, {check}) == {check}


@pytest.mark.adversary
@pytest.mark.parametrize("defence", sorted(DEFENCES))
def test_every_check_that_watches_a_defence_goes_red_without_it(toy, tmp_path, defence):
    without(toy, tmp_path, defence)
    assert red(toy, set(DEFENCES[defence].watched_by)) == set(DEFENCES[defence].watched_by)


@pytest.mark.adversary
@pytest.mark.parametrize("check", ["run_isolation", "limits_enforced", "strict_comparison", "build_isolation"])
def test_the_probes_of_a_compiled_target_see_what_those_in_python_see(toys, tmp_path, check):
    for number, defence in enumerate(WATCHES[check]):
        toy = toys("c", "c").copy(tmp_path / f"toy{number}")
        (tmp_path / str(number)).mkdir()
        without(toy, tmp_path / str(number), defence)
        assert red(toy, {check}) == {check}, defence


def test_static_sees_each_missing_defence_and_nearly_all_of_them_by_what_the_verifier_does():
    assert all(d.watched_by for d in DEFENCES.values())
    compared = {d.id for d in DEFENCES.values() if set(d.watched_by) <= COMPARING}
    assert len(compared - ONLY_PROBED) <= (1 - BAR) * len(DEFENCES.keys() - ONLY_PROBED)
    assert compared >= ONLY_PROBED
    assert compared <= {one.defence for one in KNOWN.values()}  # the probe lets these through, which its own tests show
