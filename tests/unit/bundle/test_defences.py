"""Each defence removed alone from a small bundle turns checks red: all of those that rules/defences.yaml names.

The measurements are made once, whichever test asks first: which checks go red without a defence, and which adversaries
get through.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable

import pytest

from programsmith.adversaries.registry import adversaries, defences
from programsmith.adversaries.weaken import Spoils, weaken
from programsmith.blocks import probe, static
from programsmith.bundle.manifest import digests
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import read_bundle
from programsmith.checks import build_limits, receipt_limits
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
OF_SCRIPTS = {"no_made_code"}  # where programs are compiled, what runs is machine code, and nothing forbids it
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


def judged(toy, names):
    """The rows of the named checks."""
    rows = [row for row in BOOK.load("checks")["checks"] if row["id"] in names]
    toy.rules = {"checks": {"checks": rows}}
    return static.run(toy.job("static")).evidence["checks"]


def red(toy, names):
    """Those of the named checks that fail."""
    return {row["id"] for row in judged(toy, names) if not row["passed"]}


@pytest.fixture(scope="module")
def removal(toys, tmp_path_factory) -> Callable[[str], set[str]]:
    """Which of the checks that watch a defence go red without it."""
    seen = {}

    def measured(defence):
        if defence not in seen:
            folder = tmp_path_factory.mktemp(defence)
            toy = toys("python", "python").copy(folder / "toy")
            without(toy, folder, defence)
            seen[defence] = red(toy, DEFENCES[defence].watched_by)
            shutil.rmtree(folder)
        return seen[defence]

    return measured


@pytest.fixture(scope="module")
def beaten(toys, tmp_path_factory) -> set[str]:
    """Defences without which an adversary gets through, as the probe finds them."""
    toy = toys("python", "python").copy(tmp_path_factory.mktemp("probed") / "toy")
    one_each = list({one.defence: one.id for one in KNOWN.values() if "python" in one.languages}.values())
    toy.spec["probe"] = {"adversaries": one_each, "model": None}
    rows = probe.run(toy.job("probe")).evidence["rows"]
    return {row["defence"] for row in rows if row["live"]}


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
def test_every_check_that_watches_a_defence_goes_red_without_it(removal, defence):
    assert removal(defence) == set(DEFENCES[defence].watched_by)


@pytest.mark.adversary
@pytest.mark.parametrize("language", ["c", "go", "rust"])
@pytest.mark.parametrize("check", ["run_isolation", "limits_enforced", "strict_comparison", "build_isolation"])
def test_the_probes_of_a_compiled_target_see_what_those_in_python_see(toys, tmp_path, language, check):
    for number, defence in enumerate(name for name in WATCHES[check] if name not in OF_SCRIPTS):
        toy = toys("c", language).copy(tmp_path / f"toy{number}")
        (tmp_path / str(number)).mkdir()
        without(toy, tmp_path / str(number), defence)
        assert red(toy, {check}) == {check}, defence


@pytest.mark.adversary
@pytest.mark.parametrize(("defence", "check", "tries"), [
    ("build_bounded", "build_limits", build_limits.WAYS),
    ("artifact_bounded", "receipt_limits", receipt_limits.MORE),
])  # fmt: skip
@pytest.mark.parametrize("language", ["python", "c"])
def test_each_limit_is_overrun_where_its_defence_is_missing(toys, tmp_path, language, defence, check, tries):
    toy = toys(language, language).copy(tmp_path / "toy")
    without(toy, tmp_path, defence)
    (row,) = judged(toy, {check})
    assert len(row["evidence"]["faults"]) == len(tries), row["evidence"]["words"]


@pytest.mark.adversary
def test_static_sees_nearly_every_removal_by_what_the_bundle_holds_or_does_and_the_probe_sees_the_rest(removal, beaten):
    seen = {defence for defence in DEFENCES if removal(defence) - COMPARING}
    print(len(seen), "of", len(DEFENCES), "seen by static,", len(seen | beaten), "with the probe's", len(beaten))
    assert len(seen) >= BAR * len(DEFENCES), sorted(DEFENCES.keys() - seen)
    assert seen | beaten == DEFENCES.keys(), sorted(DEFENCES.keys() - seen - beaten)
