from __future__ import annotations

import copy
import json

import pytest

from programsmith.blocks import images
from programsmith.errors import PrerequisiteError
from programsmith.records.outcome import Word
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.engine import engine


def test_the_environment_names_a_view_per_stage_and_one_fingerprint(toy):
    value = json.loads(toy.path("r/environments.json").read_bytes())
    assert set(value) == {"kind", "fingerprint", "build", "run"}
    assert value["kind"] == "bubblewrap"
    assert value["build"]["view"]["fingerprint"] != value["run"]["view"]["fingerprint"]
    record = json.loads(toy.path("r/places.json").read_bytes())
    assert record["fingerprint"] == value["fingerprint"]
    assert set(record["views"]) == {"build", "run"}
    assert record["toolchains"]["python"].startswith("3.")


def test_the_same_host_gives_the_same_environment(toy):
    before = toy.path("r/environments.json").read_bytes()
    outcome = images.run(toy.job("images"))
    assert outcome.word is Word.PASS
    assert outcome.evidence["fingerprint"] == json.loads(before)["fingerprint"]
    assert toy.path("r/environments.json").read_bytes() == before


@pytest.fixture
def no_engine(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")
    engine.cache_clear()
    yield
    engine.cache_clear()


def test_docker_without_an_engine_is_refused_with_what_to_do(toy, no_engine):
    toy.spec["sandbox"] = "docker"
    with pytest.raises(PrerequisiteError, match=r"apt-get install -y docker\.io"):
        images.run(toy.job("images"))


def test_auto_takes_the_embedded_backend_without_an_engine(toy, no_engine):
    toy.spec["sandbox"] = "auto"
    assert images.run(toy.job("images")).evidence["kind"] == "bubblewrap"


def test_a_view_in_which_nothing_compiles_is_unbuildable(toys, tmp_path):
    toy = toys("c", "c").copy(tmp_path / "toy")
    toy.path("r/environments.json").unlink()
    rule = copy.deepcopy(Rulebook(None).load("toolchains"))
    rule["languages"]["c"]["build_programs"].remove("cc")
    toy.rules = {"toolchains": rule}
    outcome = images.run(toy.job("images"))
    assert outcome.word is Word.UNBUILDABLE
    assert "does not build" in outcome.reason
    assert not toy.path("r/environments.json").exists()


def test_a_view_without_the_interpreter_does_not_run_what_it_built(toy):
    rule = copy.deepcopy(Rulebook(None).load("toolchains"))
    rule["languages"]["python"]["run_programs"].remove("python3")
    toy.rules = {"toolchains": rule}
    outcome = images.run(toy.job("images"))
    assert outcome.word is Word.UNBUILDABLE
    assert "does not run" in outcome.reason
