"""The real pipeline with a sweep: it buys once, is judged by its band, makes a revision, and a band edit is free."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import pytest
import yaml

from tests.samples.rot_project import ROOT, lay, lay_solvers, rule
from tests.samples.tried import Tried

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [python], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
budget: {agent_wall: 1m}
sweep:
  - {agent: scripted, script: solvers/hasty.py, trials: 4}
  - {agent: command, command: sh /opt/agent/never.sh, folder: solvers, trials: 4}
difficulty: [{basis: sweep, pass_rate: {min: 0.1, max: 0.7}, confidence: 0.7, trials_max: 4}]
probe: {adversaries: [stale_executable, reward_from_run]}
revisions: {max: 1}
"""
BATCH, PAIRS = 4, ("scripted:hasty", "command:sh")
PUBLIC = 10  # public cases of the first revision; the next one shows fewer
HASTY = f"""import pathlib, runpy, sys

public = pathlib.Path("/app/public.jsonl").read_text().splitlines()
slips = int(sys.argv[-1]) >= 2 and len(public) < {PUBLIC}
sys.argv[-1] = str(int(sys.argv[-1]) + (1 if slips else -9))
runpy.run_path(str(pathlib.Path(__file__).with_name("solver.py")))
"""
NEVER = "cp /opt/agent/compile.sh /app/submission && echo 'print(1)' >/app/submission/main.py\n"
INLINE = """import os, pathlib

text, script = {right!r}, {script!r}
model, seed = os.environ["MODEL"], int(os.environ["SEED"])
slip = ("places = int(value)", "places = 4") if model == "lab/hasty" or seed > 1 else ("", "")
pathlib.Path("/app/submission/main.py").write_text(text.replace(*slip, 1) + "# " + model)
pathlib.Path("/app/submission/compile.sh").write_text(script)
"""


def names(revision: int, block: str, pair: str) -> set[str]:
    return {f"r{revision}:b0:{block}:{pair}:{i}" for i in range(BATCH)}


def every(block: str) -> set[str]:
    """All tasks of a block of trials, in both revisions."""
    return set().union(*(names(revision, block, pair) for revision in range(2) for pair in PAIRS))


def judged(*blocks: str) -> set[str]:
    """Tasks of blocks in both revisions, and what closes the second."""
    return {f"r{n}:{block}" for n in range(2) for block in blocks} | {"r1:gate", "r1:export"}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Built once: the first revision is too easy for its band, the second one ships."""
    root = tmp_path_factory.mktemp("swept") / "project"
    root.mkdir()
    lay(root)
    lay_solvers(root)
    (root / "solvers" / "hasty.py").write_text(HASTY)
    (root / "solvers" / "never.sh").write_text(NEVER)
    rule(root, "adversaries", wanted={"adversaries": 2, "defences": 2})
    rule(root, "batches", first=BATCH)
    rule(root, "operations", public_min=4, held_out_min=4)
    (root / "specs" / "rot.yaml").write_text(SPEC)
    tried = Tried(root)
    ran = tried.build()
    assert tried.answer == (0, "ship"), tried.said
    assert every("trial") < ran
    return tried


@pytest.fixture
def swept(shipped: Tried, tmp_path: Path) -> Tried:
    return shipped.copy(tmp_path / "project")


def test_a_sweep_that_is_too_easy_makes_a_revision_and_one_in_its_band_ships(shipped: Tried) -> None:
    assert shipped.record("r0/b0/sweep")["outcome"] == "harden"
    assert [op["name"] for op in shipped.record("r0/synthesize")["evidence"]["operations"]] == ["reveal_fewer"]
    found = shipped.record("r1/b0/sweep")
    assert (found["outcome"], found["evidence"]["shared"]) == ("in_band", 0)
    assert len(found["evidence"]["trials"]) == 2 * BATCH
    assert {(row["pair"], row["k"], row["n"]) for row in found["evidence"]["tallies"]} == {
        ("scripted/hasty", 2, BATCH),
        ("command/sh", 0, BATCH),
    }
    assert {trial["label"] for trial in found["evidence"]["labels"]["trials"]} == {"good_success", "good_failure"}
    verdict = shipped.record("verdict")
    assert (verdict["outcome"], verdict["q"], verdict["revision"]) == ("ship", 1, 1)


def test_a_sweep_buys_each_of_its_trials_once(shipped: Tried) -> None:
    assert shipped.rewards("r0/trials/scripted-hasty") == [1, 1, 1, 1]
    assert shipped.rewards("r1/trials/scripted-hasty") == [1, 1, 0, 0]
    assert shipped.rewards("r1/trials/command-sh") == [0, 0, 0, 0]
    assert shipped.bought() == 2 * 2 * 2 * BATCH  # revisions, pairs, a reservation and what became of it


def test_an_edit_of_the_sweeps_band_reuses_every_trial_and_every_revision(swept: Tried) -> None:
    before = swept.bought()
    swept.spec("max: 0.7}", "max: 0.72}")
    assert swept.build() == judged("b0:calibrate", "b0:sweep")
    assert (swept.answer, swept.bought(), swept.restored()) == ((0, "ship"), before, set())


def test_an_edit_of_a_static_rule_leaves_every_revision_as_it_is(swept: Tried) -> None:
    checks = yaml.safe_load((ROOT / "rules" / "checks.yaml").read_text())["checks"]
    next(check for check in checks if check["id"] == "oracle_bytes")["parameters"]["answer_bytes"] += 1
    rule(swept.root, "checks", checks=checks)
    assert swept.build() == judged("static")
    assert (swept.answer, swept.restored()) == ((0, "ship"), set())


def test_what_was_revised_is_stamped_when_nothing_is_to_be_done(swept: Tried) -> None:
    assert swept.build() == {"nothing"}
    assert (swept.root / "cache" / "rot" / "stamp").is_file()


def test_a_cross_product_tells_its_command_the_model_and_ships_nothing_that_no_model_probed(swept: Tried) -> None:
    right, script = ((swept.root / "solvers" / name).read_text() for name in ("right.py", "compile.sh"))
    packed = base64.b64encode(zlib.compress(INLINE.format(right=right, script=script).encode())).decode()
    command = f"python3 -c \"import base64, zlib; exec(zlib.decompress(base64.b64decode('{packed}')))\""
    spec = yaml.safe_load(SPEC)
    spec["sweep"] = {
        "agents": ["command"],
        "models": ["lab/careful", "lab/hasty"],
        "command": command,
        "usd": 0,
        "trials": BATCH,
    }
    spec["budget"]["usd"] = 1
    (swept.root / "specs" / "rot.yaml").write_text(yaml.safe_dump(spec))
    before = swept.bought()
    swept.build()
    found = swept.record("r0/b0/sweep")
    assert {(row["pair"], row["k"], row["n"]) for row in found["evidence"]["tallies"]} == {
        ("command/lab/careful", 2, BATCH),
        ("command/lab/hasty", 0, BATCH),
    }
    verdict = swept.record("verdict")
    assert (found["outcome"], swept.answer, verdict["revision"]) == ("in_band", (1, "draft"), 0)
    assert verdict["reasons"][0] == "unjudged: no block has judged not_s"
    assert (verdict["h"], verdict["not_s"], swept.bought()) == (1, None, before + 2 * 2 * BATCH)
