"""plan, status, explain, report over the mill, which goes through batches and revisions: right, and without a trace."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from programsmith.errors import InputError
from tests.samples.millplace import Mill


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Mill:
    mill = Mill(tmp_path_factory.mktemp("mill")).make()
    assert len(mill.build()) == 43
    return mill


@pytest.fixture
def built(once: Mill, tmp_path: Path) -> Mill:
    shutil.copytree(once.root, tmp_path / "mill")
    return Mill(tmp_path / "mill")


def test_before_the_first_build_all_is_told_that_can_be(tmp_path: Path) -> None:
    mill = Mill(tmp_path).make()
    plan = mill.json("plan")
    tasks = {task["task"]: task for task in plan["tasks"]}
    assert {task["status"] for task in tasks.values()} == {"would_run"}
    assert tasks["mill:quarry"]["because"] == ["never built"]
    assert [name for name in tasks if ":trial:" in name] == [f"mill:r0:b0:trial:command:x:{i}" for i in range(6)]
    assert tasks["mill:r0:gate"]["depends_on"] == ["mill:r0:b0:weigh"]
    ways = {(row["task"], row["then"]) for row in plan["open"]}
    assert ways == {("mill:r0:b0:weigh", "another batch of trials"), ("mill:r0:b0:weigh", "another revision")}
    assert plan["trials"] == {"reused": 0, "bought": 6, "bought_at_most": 27}
    assert plan["usd"] == {"at_most": 0.0, "models": {}, "budget": None, "spent": 0.0, "held": 0.0}
    assert plan["seconds"]["trials_at_most"] >= 600
    said = mill.text("plan")
    assert "  r0:b0:trial:* (6 tasks) would run: never built\n" in said
    assert "another batch of trials depends on r0:b0:weigh" in said
    assert mill.text("status") == f"mill  never built      {len(tasks)} tasks to run"
    assert mill.text("explain", "mill:quarry") == "mill:quarry would run: never built\nit has no record"
    assert mill.text("report") == "mill: no verdict yet"
    assert not (tmp_path / "cache").exists()
    assert not (tmp_path / "journal").exists()


def test_verbs_that_look_leave_no_trace(built: Mill) -> None:
    before = built.traces()
    assert built.run("plan") == (0, "mill: up to date, 43 tasks\n", "")
    assert json.loads(built.run("status", "--json")[1])["version"] == 1
    assert built.text("status") == "mill  ship  r1:b0  r1:sell said exported  up to date"
    assert built.text("explain", "mill:r1:gate").startswith(
        "mill:r1:gate is up to date; it last ran because: never built\nit said ship after "
    )
    assert "weigh said harden" in built.text("report")
    assert built.traces() == before


def edit_code(mill: Mill) -> None:
    with (mill.root / "millforge" / "blocks" / "check.py").open("a") as out:
        out.write("# closer\n")


def tamper(mill: Mill) -> None:
    (mill.cache / "r0" / "number.txt").write_text("first\nby hand\n")
    shutil.rmtree(mill.cache / "r1" / "bundle")


def lose_everything(mill: Mill) -> None:
    shutil.rmtree(mill.cache)


def break_down(mill: Mill) -> None:
    with (mill.root / "millforge" / "blocks" / "check.py").open("a") as out:
        out.write("\n\nfrom programsmith.errors import InfraError\n\ndef run(job):\n    raise InfraError('no light')\n")


def test_a_build_that_came_to_no_end_leaves_no_verdict_that_is_called_current(built: Mill) -> None:
    assert (built.json("status")["outcome"], built.json("status")["current"]) == ("ship", True)
    break_down(built)
    assert built.run("build", "spec=mill", "--yes")[0] == 2
    assert (built.json("status")["outcome"], built.json("status")["current"]) == ("ship", False)
    former = "the last finished build said ship; "
    assert built.text("status").startswith(f"mill  stale  r1:b0  r1:sell said exported  {former}")
    assert built.json("report")["stale"][0] == "mill:r0:check"
    (built.root / "specs" / "mill.yaml").write_text("version: 1\n")
    assert [built.look(verb)[0]["specs"][0]["error"] is None for verb in ("status", "report")] == [False, False]
    assert built.look("status")[1].endswith("; the last finished build said ship")


EDITS = [edit_code, tamper, lose_everything]


@pytest.mark.parametrize("edit", EDITS)
def test_what_runs_is_what_was_planned(built: Mill, edit: Any) -> None:
    edit(built)
    plan = {task["task"]: task for task in built.json("plan")["tasks"]}
    worked = built.worked()
    ran = built.build()
    would = {name for name, task in plan.items() if task["status"] == "would_run"}
    sure = {name for name in would if plan[name]["certain"] and not plan[name]["depends_on"]}
    assert sure <= set(ran)
    assert set(ran) & set(plan) <= would
    taken = {name for name in ran if name in plan and plan[name]["from_store"]}
    assert built.worked() - worked <= len(ran) - len(taken & sure)
    if edit in (tamper, lose_everything):
        assert set(ran) == would
        assert built.worked() - worked == sum(not plan[name]["from_store"] for name in would)


def test_the_chain_leads_down_to_what_changed(built: Mill) -> None:
    edit_code(built)
    lines = built.text("explain", "mill:r1:gate").splitlines()
    assert lines[0].startswith("mill:r1:gate would run: record of r1:check would be made anew, record of r1:b0:")
    assert "  mill:r1:check would run: code changed: millforge.blocks.check" in lines
    one = built.json("explain", "mill:r1:gate")["tasks"][0]
    assert one["record"]["outcome"] == "ship"
    assert one["chain"][:2] == [[0, "mill:r1:gate"], [1, "mill:r1:check"]]
    built.spec(generation=5)
    assert "mill:quarry would run: generation: 5, was 1" in built.text("explain", "spec=mill")
    (built.cache / "r0" / "bundle" / "0.txt").write_text("x")
    assert "r/bundle/ was altered" in built.text("explain", "mill:r0:cut")
    with pytest.raises(InputError, match=r"^mill:r1:gat: wanted a task, .* did you mean `mill:r1:gate`\?$"):
        built.text("explain", "mill:r1:gat")


def test_they_answer_while_a_build_runs_and_do_not_hold_it(tmp_path: Path) -> None:
    mill = Mill(tmp_path).make()
    running = mill.start("build", "spec=mill", "--yes")
    seen = []
    while running.poll() is None:
        seen.append(mill.json("status"))
        assert mill.text("plan").startswith("mill: ")
        time.sleep(1)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, f"mill  ship  {tmp_path}/dist/mill\n"), err
    at_work = [status["running"] for status in seen if status["running"]]
    assert any(now["blocks"] for now in at_work)
    assert all(now["pid"] > 0 for now in at_work)
    assert {status["interrupted"] for status in seen} == {False}
    looked = [mill.look(verb) for verb in ("plan", "status", "explain")]
    assert (looked[1][0]["specs"][0]["running"], looked[1][0]["specs"][0]["stale"]) == (None, [])
    assert mill.build() == []
    assert (mill.cache / "stamp").exists()
    assert [mill.look(verb) for verb in ("plan", "status", "explain")] == looked


def test_a_killed_build_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    mill = Mill(tmp_path).make()
    running = mill.start("build", "spec=mill", "--yes", start_new_session=True)
    while not list(mill.cache.glob("r0/trials/*/*/trial.json")):
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=30)
    os.killpg(int((mill.cache / "lock").read_text()), signal.SIGKILL)
    before = mill.traces()
    status = mill.json("status")
    assert (status["running"], status["interrupted"], status["last"]["said"]) == (None, True, "done")
    assert "a build was killed; the next one goes on" in mill.text("status")
    assert mill.json("plan")["trials"]["reused"] > 0
    assert mill.traces() == before


def test_a_reader_that_goes_away_is_no_fault(built: Mill) -> None:
    with built.start("explain", "--json") as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        assert running.stderr.read() == ""
    assert running.returncode == 0


def test_a_broken_spec_hides_no_other(built: Mill) -> None:
    (built.root / "specs" / "bad.yaml").write_text("version: 1\nname: bad\nsource: {path: mine}\ncolour: red\n")
    for verb in ("plan", "status", "explain", "report"):
        value, said = built.look(verb)
        assert "specs/bad.yaml:4: colour" in said
        assert [(spec["name"], bool(spec["error"])) for spec in value["specs"]] == [("bad", True), ("mill", False)]
        with pytest.raises(InputError, match="colour"):
            built.look(verb, "spec=bad")
    with pytest.raises(InputError, match="approve=pick: wanted a known word, got 'approve'"):
        built.text("plan", "approve=pick")
