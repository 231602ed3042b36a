"""A verifier that has started already grades as one that starts anew, and nothing of a run outlives it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from programsmith.bundle import ready
from programsmith.bundle.controls import table
from programsmith.bundle.grade import grade
from programsmith.bundle.sides import read_sides
from programsmith.errors import InfraError
from programsmith.payload.verifier.tree import write_tree


@pytest.fixture(autouse=True)
def own() -> Iterator[None]:
    """No ready verifier of another test, and none left."""
    ready._end_all()
    yield
    ready._end_all()


def children(of: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{of}/task/{of}/children").read_text().split()]


def gone(pid: int) -> bool:
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def submission(toy, tmp_path):
    write_tree(str(tmp_path / "s"), table("python", read_sides(toy.bundle).all))
    return tmp_path / "s"


def test_one_start_serves_run_after_run_and_each_gets_what_a_fresh_start_gives(toy, tmp_path):
    handed_in = submission(toy, tmp_path)
    environment = toy.path("r/environments.json")
    before = children(os.getpid())
    found = [grade(toy.bundle, handed_in, environment, tmp_path / f"o{n}") for n in range(2)]
    started = [pid for pid in children(os.getpid()) if pid not in before]
    fresh = grade(toy.bundle, handed_in, environment, tmp_path / "fresh", fresh=True)
    assert [g.reward for g in (*found, fresh)] == [1, 1, 1]
    assert found[0].details["cases"] == found[1].details["cases"] == fresh.details["cases"]
    assert len(started) == 1
    ready._end_all()
    assert gone(started[0])


def test_a_bundle_with_another_verifier_gets_that_one(toy, tmp_path):
    (toy.bundle / "tests" / "verify.pyz").write_bytes(b"raise SystemExit(41)")
    with pytest.raises(InfraError, match="exit code 41"):
        grade(toy.bundle, submission(toy, tmp_path), toy.path("r/environments.json"), tmp_path / "o")


def test_a_run_that_overruns_its_time_is_ended_with_all_that_it_started(toy, tmp_path, monkeypatch):
    runs = []
    number = ready._number
    monkeypatch.setattr(ready, "_number", lambda pipe: runs.append(number(pipe)) or runs[-1])
    said = tmp_path / "said"
    said.touch()
    words = ["--tests", str(toy.bundle / "tests"), "--launcher", str(toy.path("r/environments.json"))]
    words += ["--submission", str(submission(toy, tmp_path)), "--out", str(tmp_path / "o")]
    assert ready.run(words, str(tmp_path), str(said), 0.05) is None
    assert len(runs) == 1
    assert gone(runs[0])
    assert not (tmp_path / "o" / "reward.json").exists()
    assert ready.run(words, str(tmp_path), str(said), 60) == 0
    assert json.loads((tmp_path / "o" / "reward.json").read_bytes()) == {"reward": 1.0}


def test_wrong_words_end_the_run_and_not_the_verifier(tmp_path):
    said = tmp_path / "said"
    said.touch()
    assert [ready.run(["--nonsense"], str(tmp_path), str(said), 60) for _ in range(2)] == [2, 2]
    assert said.read_bytes().count(b"usage: verify.pyz") == 2


def test_where_the_waiting_verifier_was_killed_the_next_grade_gets_another(toy, tmp_path):
    handed_in, environment = submission(toy, tmp_path), toy.path("r/environments.json")
    before = children(os.getpid())
    assert grade(toy.bundle, handed_in, environment, tmp_path / "o").reward == 1
    [started] = [pid for pid in children(os.getpid()) if pid not in before]
    os.kill(started, signal.SIGKILL)
    assert gone(started)
    again = grade(toy.bundle, handed_in, environment, tmp_path / "o")
    assert (again.reward, again.ends) == (1, ())
