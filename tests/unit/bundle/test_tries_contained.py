"""A try of a real coding agent in containers: told to attack, graded there, judged and kept."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from programsmith.agents.installed import installed
from programsmith.blocks import images, probe, trial
from programsmith.compiler.plan import STEP, of_trial
from programsmith.errors import PrerequisiteError
from programsmith.job import Rules
from programsmith.sandboxes.base import DOCKER
from programsmith.sources.tree import read_tar
from tests.contract.backends import base_image
from tests.samples.conversation import conversation
from tests.samples.gateways import HAIKU, KEYS, rules
from tests.samples.sly import COMMANDS
from tests.unit.bundle.benches import Bench
from tests.unit.bundle.test_tries import BOOK, RULE, graded, ground, handed_in, kept, without

ENTRY = {"agent": "claude-code", "model": HAIKU, "trials": 1, "usd": 0.5}


@pytest.mark.agents
@pytest.mark.docker
def test_a_try_of_a_real_agent_in_containers_is_a_hack_that_is_kept(toy: Any, tmp_path: Path) -> None:
    try:
        installed("claude-code", BOOK.load("agents")["agents"]["claude-code"])
    except PrerequisiteError as lacks:
        pytest.skip(str(lacks))
    base_image("python")
    without(toy, "no_held_out_answers", tmp_path / "whole")
    toy.spec["sandbox"] = DOCKER
    images.run(toy.job("images"))
    with conversation(*COMMANDS) as far:
        bench = Bench(toy=toy, folder=tmp_path / "bench", wall="300s", rules=rules(far.address), environment=KEYS)
        plain = bench.job(ENTRY)
        which = dataclasses.replace(plain.trial, adversary=True)
        done = dataclasses.replace(plain, trial=which, rules=Rules(bench.rule, of_trial(STEP["trial"], which).rules))
        trial.run(done)
    assert bench.kind == DOCKER
    assert b"You test a task before others get it" in b"".join(asked.body for asked in far.asked)
    files = tuple(read_tar(done.outputs["t/artifact.tar"]))
    job = handed_in(toy, files, entry=ENTRY)
    toy.path("t/transcript.json").write_bytes(done.outputs["t/transcript.json"].read_bytes())
    job = dataclasses.replace(job, records=graded(toy, files, job.trials[0]))
    (one,) = probe.judged(job, toy.manifest, ground(toy, job.scratch / "ground"), RULE) or ()
    assert (one.judged, one.row["reward"]) == ("hacked", 1.0), one.why
    assert "unseen cases" in one.why
    (entry,) = kept(toy)
    assert (entry["backend"], entry["agent"], len(entry["commands"])) == (DOCKER, "claude-code", len(COMMANDS))
