"""Exported tasks whose original may be asked: they hold under verify, and one with another container does not."""

from __future__ import annotations

import json
import shutil
import tomllib

import pytest

from programsmith.blocks import create
from programsmith.bundle.tree import ANSWERS, COMPOSE
from tests.samples.exporting import GOOD, SECRET, SEED, exported, forge, public, resigned, states


@pytest.fixture(params=["inline", "owner"])
def asked_task(request, asked_toys, tmp_path):
    toy = asked_toys("python", "python").copy(tmp_path / "toy")
    if request.param == "owner":
        toy.spec["seal"], toy.owner_secret = "owner", SECRET
        shutil.rmtree(toy.bundle)
        create.run(toy.job("create"))
    return exported(toy, tmp_path / "dist" / "rot")


def test_it_holds_also_where_its_owner_keeps_the_secret(asked_task, verified):
    code, lines = verified(asked_task, "--key", public(SEED))
    sealing = "unproven" if tomllib.loads((asked_task / "task.toml").read_text())["verifier"].get("env") else "ok"
    assert (code, states(lines)) == (0, {**GOOD, "sealing": sealing})


def test_what_is_kept_of_a_trial_names_the_container(asked_task):
    kept = tomllib.loads((asked_task / "task.toml").read_text())["artifacts"]
    assert [(row["source"], row.get("service")) for row in kept] == [
        ("/app/submission", None), ("/logs/artifacts", None), ("/logs/reference", "reference"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "edit", "line"),
    [
        (COMPOSE, lambda c: c.replace(b"    init: true\n", b"    privileged: true\n", 1), "consumers"),
        (f"{ANSWERS}seal.json", lambda c: json.dumps({**json.loads(c), "identity": "other"}).encode(), "sealing"),
    ],
)
def test_another_container_is_told_whatever_else_was_made_to_fit(asked_task, verified, path, edit, line):
    (asked_task / path).write_bytes(edit((asked_task / path).read_bytes()))
    forge(asked_task)
    resigned(asked_task)
    code, lines = verified(asked_task)
    assert (code, lines[line]["state"]) == (1, "differs")
