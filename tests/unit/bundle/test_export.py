from __future__ import annotations

import dataclasses
import json
import shutil
import tomllib

import pytest

from programsmith import __version__
from programsmith.blocks import export
from programsmith.bundle.dataset import listed, tar_of, update, withdraw
from programsmith.bundle.harbor import read_task, task_digest
from programsmith.bundle.tree import read_bundle
from programsmith.errors import InputError
from programsmith.payload.verifier.model import FileEntry
from programsmith.records import codec
from programsmith.records.lock import LicenceFact, Lock
from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict
from programsmith.rulebook.load import packaged_schema
from programsmith.sources.tree import read_tar, write_tar

STRENGTH = {
    "mutation_score": 0.8, "interval": [0.7, 0.9], "mutants": 120, "killed": 96, "pool_coverage": 0.9,
    "scope_coverage": 0.5, "public_kill_ratio": None, "null_scores": {}, "survivors": [],
}  # fmt: skip


def record(block, evidence, seconds=1.0):
    return Record(block=block, outcome=Word.PASS, reason="ok", evidence=evidence, inputs={}, seconds=seconds)


def ended(toy, outcome=Word.DRAFT, **factors):
    q = {"q": None, "b": 1, "v": 1, "h": None, "not_s": None, **factors}
    places = ({"kind": "bubblewrap", "fingerprint": "ab" * 32},)
    codec.dump(
        toy.path("verdict.json"),
        Verdict(outcome=outcome, revision=0, environments=places, reasons=("no_rollouts: unproven",), **q),
    )


def exported(toy, place="drafts/rot", seconds=1.0):
    """Run export and publish its output as the engine does."""
    job = toy.job("export")
    final = toy.folder / "dist" / place
    final.parent.mkdir(parents=True, exist_ok=True)
    records = {"strength": record("strength", STRENGTH, seconds), "static": record("static", {}, seconds)}
    part = final.with_name(final.name + ".part")
    outcome = export.run(dataclasses.replace(job, outputs={"dist/": part}, records=records))
    shutil.rmtree(final, ignore_errors=True)
    part.rename(final)
    return outcome, final


@pytest.fixture
def ready(toy):
    lock = codec.load(toy.path("lock.json"), Lock)
    fact = LicenceFact(path="LICENSE", expression="MIT", how="text")
    codec.dump(toy.path("lock.json"), dataclasses.replace(lock, licences=(fact,)))
    write_tar(toy.path("source.tar"), [*read_tar(toy.path("source.tar")), FileEntry(b"LICENSE", content=b"MIT text\n")])
    ended(toy)
    return toy


def tree(folder):
    return {path: (e.mode, e.content) for path, e in read_bundle(folder).items()}


def test_a_draft_is_the_bundle_with_its_provenance(ready):
    outcome, place = exported(ready)
    assert (outcome.word, outcome.evidence["path"]) == (Word.EXPORTED, "drafts/rot")
    found, bundle = tree(place), tree(ready.bundle)
    assert {p: v for p, v in found.items() if p in bundle and p != "task.toml"} == {
        p: v for p, v in bundle.items() if p != "task.toml"
    }
    assert set(found) - set(bundle) == {"provenance.json", "licences/LICENSE", "manifest.json"}
    assert found["licences/LICENSE"][1] == b"MIT text\n"


def test_task_toml_says_what_is_known_and_nothing_that_is_not(ready):
    _, place = exported(ready)
    task = read_task((place / "task.toml").read_bytes(), packaged_schema("harbor_task"))
    said = task["metadata"]["programsmith"]
    assert (said["verdict"], said["b"], said["v"]) == ("draft", 1, 1)
    assert not {"q", "h", "not_s"} & set(said)
    assert said["proven_in"] == ["bubblewrap"]
    assert said["strength"]["interval"] == [0.7, 0.9]
    assert "public_kill_ratio" not in said["strength"]
    assert set(said["evidence"]) == {"strength", "static"}
    assert (said["version"], said["spec"]) == (__version__, "rot")
    assert said["provenance"]["bundle"] == ready.manifest.tree
    assert "calibration" not in said


def test_provenance_names_source_licence_cases_digests_and_verdict(ready):
    outcome, place = exported(ready)
    said = json.loads((place / "provenance.json").read_bytes())
    assert said["source"]["commit"] == "5f0c1d2e3b4a59687786958493a2b1c0d9e8f706"
    assert set(said["cases"]) == {*ready.manifest.public, *ready.manifest.held_out}
    assert all(row["licence"] == "MIT" for row in said["cases"].values())
    assert said["bundle"]["tree"] == ready.manifest.tree
    files = {path: e.content for path, e in read_bundle(place).items()}
    assert said["bundle"]["task"] == outcome.evidence["digest"] == task_digest(files)
    assert said["verdict"]["outcome"] == "draft"


def test_exporting_again_changes_nothing(ready):
    first = exported(ready, seconds=1.0)
    before, dataset = tree(first[1]), (ready.folder / "dist/dataset.toml").read_bytes()
    again = exported(ready, seconds=9.0)
    assert again[0] == first[0]
    assert tree(again[1]) == before
    assert (ready.folder / "dist/dataset.toml").read_bytes() == dataset


def test_the_dataset_lists_what_lies_there_by_digest(ready):
    outcome, _ = exported(ready)
    value = tomllib.loads((ready.folder / "dist/dataset.toml").read_text())
    assert value["tasks"] == [{"name": "programsmith/rot", "digest": f"sha256:{outcome.evidence['digest']}"}]
    assert value["metadata"]["programsmith"]["programsmith/rot"] == {"path": "drafts/rot", "verdict": "draft"}


def test_another_verdict_moves_the_task_to_its_shelf(ready):
    _, old = exported(ready)
    ended(ready, Word.SHIP, q=1, h=1, not_s=1)
    outcome, place = exported(ready, "rot")
    assert outcome.evidence["path"] == "rot"
    assert place.is_dir()
    assert not old.exists()
    value = tomllib.loads((ready.folder / "dist/dataset.toml").read_text())
    assert [row["name"] for row in value["tasks"]] == ["programsmith/rot"]
    assert value["metadata"]["programsmith"]["programsmith/rot"]["path"] == "rot"


def test_a_tar_goes_with_its_task_and_when_the_task_changes(ready):
    _, place = exported(ready)
    tar_of(place).write_bytes(b"packed")
    exported(ready)
    assert not tar_of(place).exists()
    tar_of(place).write_bytes(b"packed")
    ended(ready, Word.SHIP, q=1, h=1, not_s=1)
    _, ships = exported(ready, "rot")
    assert not tar_of(place).exists()
    tar_of(ships).write_bytes(b"packed")
    tar_of(place).write_bytes(b"of a task that is gone")
    withdraw(ready.folder / "dist", ships)
    assert (tar_of(ships).exists(), tar_of(place).exists()) == (True, False)
    withdraw(ready.folder / "dist", ready.folder / "cache" / "rot")
    assert not tar_of(ships).exists()
    assert not ships.exists()


def test_a_task_called_as_the_tar_of_another_is_none(ready):
    _, place = exported(ready)
    shutil.copytree(place, tar_of(place))
    exported(ready)
    withdraw(ready.folder / "dist", ready.folder / "cache" / "rot")
    assert (tar_of(place) / "task.toml").exists()


def test_unfinished_and_foreign_folders_are_not_listed(ready):
    _, place = exported(ready)
    dist = ready.folder / "dist"
    shutil.copytree(place, dist / "drafts" / "half.part")
    (dist / "drafts" / "foreign").mkdir()
    (dist / "drafts" / "foreign" / "provenance.json").write_text("{}")
    shutil.copytree(place, dist / "drafts" / "bare")
    (dist / "drafts" / "bare" / "provenance.json").unlink()
    exported(ready)
    assert len(tomllib.loads((dist / "dataset.toml").read_text())["tasks"]) == 1


def test_a_folder_that_is_no_task_is_refused_by_name(ready, tmp_path):
    (tmp_path / "task.toml").write_text("a = 1\n")
    with pytest.raises(InputError, match="wanted an exported task"):
        listed("x", tmp_path)


def test_several_specs_share_one_dataset(ready):
    _, place = exported(ready)
    dist = ready.folder / "dist"
    other = dist / "other.part"
    shutil.copytree(place, other)
    raw = (other / "task.toml").read_bytes().replace(b"programsmith/rot", b"programsmith/other")
    (other / "task.toml").write_bytes(raw)
    update(dist, other, dist / "other")
    value = tomllib.loads((dist / "dataset.toml").read_text())
    assert [row["name"] for row in value["tasks"]] == ["programsmith/other", "programsmith/rot"]
