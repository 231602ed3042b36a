"""A real task with one case that nobody can know without the source does not ship, whoever tries it, however well.

The case looks like any other: documentation and help show its words, public cases execute its line, and it passes every
gate. Only the text that it reads makes the original turn one place further.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from programsmith.records import codec
from programsmith.records.golden import Golden
from tests.samples.rot_project import lay, lay_solvers, rule
from tests.samples.tried import Tried

SPEC = """version: 1
name: rot
source: {path: rot}
task: {target_languages: [python], tool: rot}
goldens: {min_kept: 8, held_out: 8}
horizon: {min_lines: 10}
budget: {agent_wall: 1m}
rollouts: [{agent: scripted, script: solvers/solver.py, trials: 3}]
ceiling: {agent: scripted, script: readers/reader.py, trials: 1}
difficulty: [{basis: rollouts, pass_rate: {max: 0.5}, confidence: 0.7, trials_max: 3}]
probe: {adversaries: [stale_executable, reward_from_run]}
revisions: {max: 0}
"""
CEILING = "ceiling: {agent: scripted, script: readers/reader.py, trials: 1}\n"
LINES = 8  # of the text that one held-out case reads, and no other one
PLAIN, PLANTED = "out = turn(data, places)", f"out = turn(data, places + (data.count(10) == {LINES}))"
READER = """import pathlib, shutil

app = pathlib.Path("/app")
shutil.copy(app / "source" / "rot.py", app / "submission" / "main.py")
shutil.copy(pathlib.Path(__file__).with_name("compile.sh"), app / "submission")
"""


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Built once: solvers that know all that can be known, and one who copies the source."""
    root = tmp_path_factory.mktemp("planted") / "project"
    root.mkdir()
    lay(root)
    lay_solvers(root)
    (root / "readers").mkdir()
    (root / "readers" / "reader.py").write_text(READER)
    shutil.copy(root / "solvers" / "compile.sh", root / "readers")
    program = root / "rot" / "rot.py"
    assert program.read_text().count(PLAIN) == 1
    program.write_text(program.read_text().replace(PLAIN, PLANTED))
    rule(root, "adversaries", wanted={"adversaries": 2, "defences": 2})
    rule(root, "batches", first=3)
    (root / "specs" / "rot.yaml").write_text(SPEC)
    tried = Tried(root)
    tried.build()
    return tried


@pytest.fixture
def tried(refused: Tried, tmp_path: Path) -> Tried:
    return refused.copy(tmp_path / "project")


def planted(tried: Tried) -> str:
    """The planted case, which is held out."""
    pool = codec.load_lines(tried.root / "cache" / "rot" / "pool.jsonl", Golden)
    (found,) = (case.id for case in pool if b"case-%02d" % (LINES - 1) in case.provenance.path)
    assert found in tried.record("r0/split")["held_out"]
    return found


def test_one_who_has_read_the_source_does_not_vouch_for_it(refused: Tried) -> None:
    assert refused.rewards() == [0, 0, 0]
    assert refused.rewards("r0/trials/ceiling/scripted-reader") == [1]
    assert refused.answer == (1, "shelve_hard"), refused.said
    verdict = refused.record("verdict")
    assert (verdict["v"], verdict["h"], verdict["q"]) == (1, 0, 0)
    assert verdict["reasons"][0].startswith("calibrate_too_hard: nothing shows that reward 1 can be had (1 cases")
    assert planted(refused) in verdict["reasons"][0]
    assert refused.record("r0/b0/calibrate")["evidence"]["solvable"] == {"by": None, "open": [planted(refused)]}
    assert not (refused.root / "dist" / "rot").exists()


def test_where_one_with_the_source_fails_it_too_it_is_a_defect_of_ours(tried: Tried) -> None:
    tried.spec(CEILING, "ceiling: {agent: scripted, script: solvers/solver.py, trials: 1}\n")
    tried.build()
    verdict = tried.record("verdict")
    assert (tried.answer, verdict["v"]) == ((1, "drop"), 0)
    assert verdict["reasons"][0].startswith("triage_defect: 4 of 4 trials: ")
    assert verdict["reasons"][0].endswith(f" is bad_failure by out_of_reach, the first case is {planted(tried)}")


def test_where_nobody_has_the_source_nothing_shows_that_it_can_be_passed(tried: Tried) -> None:
    tried.spec(CEILING, "")
    assert tried.build() == {"r0:b0:rollouts", "r0:b0:triage", "r0:b0:calibrate", "r0:gate", "r0:export"}
    assert tried.answer == (1, "shelve_hard")
    assert planted(tried) in tried.record("verdict")["reasons"][0]
