"""What create writes passes every static check where the bundle's own image grades, too."""

from __future__ import annotations

import json

import pytest

from programsmith.blocks import images, static
from programsmith.bundle.stages import opened_stages
from programsmith.checks.registry import CHECKS
from programsmith.records.outcome import Word
from programsmith.sandboxes.base import DOCKER
from tests.contract.backends import base_image

pytestmark = pytest.mark.docker


def test_a_bundle_as_created_is_green_in_a_container(toy):
    base_image("python")
    toy.spec["sandbox"] = "docker"
    images.run(toy.job("images"))
    place = toy.path("r/environments.json").read_bytes()
    assert json.loads(place)["kind"] == DOCKER
    with opened_stages(toy.bundle, place) as stages:
        assert {"work", "work_files", "code"} <= set(stages.enforced)
    outcome = static.run(toy.job("static"))
    assert outcome.word is Word.PASS, outcome.reason
    assert {row["id"] for row in outcome.evidence["checks"]} == set(CHECKS)
