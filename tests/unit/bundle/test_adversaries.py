"""Adversaries on a small task: stopped by the bundle, live without their defence, and noticed where one is missing."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from programsmith.adversaries.cut import Choice, Cuts, cut
from programsmith.adversaries.registry import adversaries, chosen, defences
from programsmith.adversaries.run import HACKED, NO_CASE, STOPPED, Ground, attack
from programsmith.adversaries.weaken import Spoils, weak_program, weaken
from programsmith.blocks import create, probe
from programsmith.bundle.controls import table, targets
from programsmith.bundle.grade import grade
from programsmith.bundle.sides import read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.tree import read_bundle
from programsmith.bundle.zipapp import verify_pyz
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.tree import write_tree
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from tests.unit.bundle.half import HalfSolution

BOOK = Rulebook(None)
DEFENCES = defences(BOOK.load("defences"))
KNOWN = adversaries(BOOK.load("adversaries"), DEFENCES)
SECRET = bytes(range(32))


def ground(toy, scratch):
    scratch.mkdir(exist_ok=True)
    return Ground(
        bundle=toy.bundle,
        cuts=Cuts(toy.bundle, scratch, toy.owner_secret),
        environments=toy.path("r/environments.json"),
        language=toy.manifest.target_language,
        tool="rot",
        solution=solution(toy.bundle, toy.owner_secret),
        pointer="5f0c1d2e3b4a",
        scratch=scratch,
    )


def spoils(toy, sides):
    twin = (FileEntry(b"rot", "file", 0o755, b"#!/bin/sh\n"),)
    return Spoils(sides=sides, solution=solution(toy.bundle), pointer="5f0c1d2e3b4a", twin=twin)


def probed(toy, wanted):
    toy.spec["probe"] = {"adversaries": wanted, "model": None}
    return probe.run(toy.job("probe"))


def test_a_cut_keeps_the_verifier_and_the_agents_side_and_few_cases(toy, tmp_path):
    whole = read_sides(toy.bundle)
    sides = cut(whole, toy.bundle, Choice(count=3, limits={"pids": 9}), tmp_path / "cut")
    assert read_sides(tmp_path / "cut") == sides
    assert sides.held_out == whole.held_out[:3]
    assert (sides.public, sides.plan.reward, sides.policy.case.pids) == ((), "binary", 9)
    assert dataclasses.replace(sides.policy, case=whole.policy.case) == whole.policy
    old, new = read_bundle(toy.bundle), read_bundle(tmp_path / "cut")
    changed = {path for path in old if old[path] != new[path]}
    assert set(old) == set(new)
    assert changed <= {
        f"tests/{n}" for n in ("policy.json", "plan.json", "public.jsonl", "held_out.sealed", "seal.json")
    }


def test_a_cut_never_keeps_more_than_eight_cases(toy, tmp_path):
    assert len(cut(read_sides(toy.bundle), toy.bundle, Choice(count=99), tmp_path / "cut").held_out) <= 8


def test_a_cut_of_a_bundle_that_its_owner_sealed_opens_without_the_owner(toy, tmp_path):
    toy.owner_secret = SECRET
    toy.spec["seal"] = "owner"
    shutil.rmtree(toy.bundle)
    create.run(toy.job("create"))
    sides = cut(read_sides(toy.bundle, SECRET), toy.bundle, Choice(), tmp_path / "cut")
    assert read_sides(tmp_path / "cut") == sides


def test_where_no_case_suits_there_is_no_cut_and_no_answer(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(cut.__globals__["KINDS"], "plain", lambda _case: False)
    row = attack(KNOWN["says_nothing"], ground(toy, tmp_path / "s"))
    assert (row.live, row.outcome, row.reward) == (None, NO_CASE, None)


def test_a_shipped_verifier_holds_no_weakness_and_no_switch(toy):
    with zipfile.ZipFile(io.BytesIO((toy.bundle / "tests" / "verify.pyz").read_bytes())) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert not [name for name in held if "adversaries" in name]
    assert not [name for name, content in held.items() if b"adversaries" in content or b"weak" in content]


def test_a_second_weakness_leaves_the_first_in_place():
    twice = weak_program(weak_program(verify_pyz(), "exact_bytes"), "files_count")
    with zipfile.ZipFile(io.BytesIO(twice)) as archive:
        main = archive.read("__main__.py").decode()
    assert main.count("remove()") == 2
    assert "exact_bytes" in main
    assert "files_count" in main


def test_a_defence_that_nothing_removes_is_refused(toy, tmp_path):
    sides = read_sides(toy.bundle)
    with pytest.raises(KeyError, match="luck"):
        weaken(toy.bundle, "luck", tmp_path / "weak", spoils(toy, sides))


def test_a_bundle_whose_verifier_lacks_a_defence_is_hacked(toy, tmp_path):
    weak = weaken(toy.bundle, "exit_code_counts", tmp_path / "weak", spoils(toy, read_sides(toy.bundle)))
    toy.bundle.rename(tmp_path / "whole")
    weak.rename(toy.bundle)
    outcome = probed(toy, ["wrong_exit", "litters"])
    assert outcome.word is Word.HACKED
    assert {r["id"]: r["outcome"] for r in outcome.evidence["rows"]} == {"wrong_exit": HACKED, "litters": STOPPED}
    assert outcome.evidence["counts"]["scripted"] == "1/2"


def test_a_bundle_that_shows_its_original_is_hacked(toy, tmp_path):
    weak = weaken(toy.bundle, "no_oracle_bytes", tmp_path / "weak", spoils(toy, read_sides(toy.bundle)))
    toy.bundle.rename(tmp_path / "whole")
    weak.rename(toy.bundle)
    assert probed(toy, ["copies_original"]).word is Word.HACKED


def test_a_bundle_with_one_key_for_both_or_a_channel_to_the_verifier_is_hacked(toy, tmp_path):
    for number, (defence, name) in enumerate({"two_keys": "reuses_key", "one_artifact": "replaces_verifier"}.items()):
        weak = weaken(toy.bundle, defence, tmp_path / f"weak{number}", spoils(toy, read_sides(toy.bundle)))
        toy.bundle.rename(tmp_path / f"whole{number}")
        weak.rename(toy.bundle)
        assert probed(toy, [name]).word is Word.HACKED
        shutil.rmtree(toy.bundle)
        (tmp_path / f"whole{number}").rename(toy.bundle)


def test_a_bundle_whose_verifier_gives_no_grade_is_hacked(toy, tmp_path):
    weak = weaken(toy.bundle, "bytes_stay_bytes", tmp_path / "weak", spoils(toy, read_sides(toy.bundle)))
    toy.bundle.rename(tmp_path / "whole")
    weak.rename(toy.bundle)
    outcome = probed(toy, ["prints_garbage"])
    assert (outcome.word, outcome.evidence["not_s"]) == (Word.HACKED, 0)


def test_damage_is_seen_from_the_host(toy, tmp_path):
    for name in ("calls_out", "leaves_files", "trains_on_it", "daemon", "ends_others"):
        row = attack(KNOWN[name], ground(toy, tmp_path / name))
        assert (row.live, row.outcome) == (True, STOPPED), name


def test_nothing_of_an_attack_stays_in_the_bundle_or_the_scratch_folder(toy, tmp_path):
    before = read_bundle(toy.bundle)
    attack(KNOWN["meets_in_shared"], ground(toy, tmp_path / "s"))
    assert read_bundle(toy.bundle) == before
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["cut0"]


def test_adversaries_that_are_graded_on_the_same_cases_share_one_cut(toy, tmp_path):
    cuts = Cuts(toy.bundle, tmp_path, None)
    first, other = cuts.get(Choice(whole=False)), cuts.get(Choice(limits={"pids": 9}))
    assert cuts.get(Choice(whole=False)) is first
    assert first[0] != other[0]
    assert {p.name for p in first[0].iterdir()} == {"tests", "task.toml"}


@pytest.mark.adversary
@pytest.mark.parametrize("language", ["python", "c"])
def test_every_adversary_is_stopped_and_live_and_changes_no_others_fraction(toys, tmp_path, language):
    toy = toys(language, language).copy(tmp_path / "toy")
    half = HalfSolution(toy, tmp_path / "half", language)
    with ThreadPoolExecutor(1) as beside:
        graded = beside.submit(half.grades)
        outcome = probed(toy, "all")
    assert graded.result() == half.wanted
    assert outcome.word is Word.CLEAN, outcome.reason
    assert [r["id"] for r in outcome.evidence["rows"] if r["reward"] not in {0.0, None}] == []
    assert outcome.evidence["duds"] == []
    assert [r["id"] for r in outcome.evidence["rows"] if r["live"] is None] == []
    assert outcome.evidence["not_s"] == 1
    rows = chosen(KNOWN, "all", language)
    assert len(outcome.evidence["rows"]) == len(rows) >= 60
    assert outcome.evidence["defences"] == len({one.defence for one in rows}) >= 20
    json.dumps(outcome.evidence)


@pytest.mark.adversary
@pytest.mark.parametrize("language", sorted({*targets()} - {"c", "cpp", "python"}))
@pytest.mark.parametrize(
    ("asked", "least"), [("core", (20, 15)), pytest.param("all", (60, 20), marks=pytest.mark.soak)]
)
def test_every_adversary_in_another_language_is_stopped_and_live(toys, tmp_path, language, asked, least):
    outcome = probed(toys("c", language).copy(tmp_path / "toy"), asked)
    odd = [(r["id"], r["live"], r["outcome"], r["reward"]) for r in outcome.evidence["rows"]]
    assert [row for row in odd if row[1:3] != (True, STOPPED)] == []
    assert outcome.word is Word.CLEAN, outcome.reason
    rows = chosen(KNOWN, asked, language)
    assert len(outcome.evidence["rows"]) == len(rows) >= least[0]
    assert outcome.evidence["defences"] == len({one.defence for one in rows}) >= least[1]


@pytest.mark.adversary
@pytest.mark.parametrize("defence", sorted(DEFENCES))
def test_a_weakened_bundle_lacks_one_defence_and_nothing_else(toy, tmp_path, defence):
    whole = tmp_path / "cut"
    sides = cut(read_sides(toy.bundle), toy.bundle, Choice(), whole)
    weak = weaken(whole, defence, tmp_path / "weak", spoils(toy, sides))
    for name, files, wanted in (("nop", (), 0.0), ("table", table("python", sides.held_out), 1.0)):
        write_tree(str(tmp_path / name), files)
        found = grade(weak, tmp_path / name, toy.path("r/environments.json"), tmp_path / f"{name}.out")
        assert found.reward == wanted, (name, found.word, found.reason)
