"""The engine on a small pipeline: what runs again, what never does, what survives a kill."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ALL = ["dig", "wash", "scale", "smell", "box", "judge", "sell"]


@pytest.fixture
def built(toy: Any) -> Any:
    assert toy.build() == ALL
    assert (toy.outcome, toy.exit) == ("draft", 0)
    return toy


def test_a_second_run_runs_nothing(built: Any) -> None:
    assert built.build() == []
    assert "nothing to do: 7 blocks are up to date" in built.said


def test_each_block_leaves_its_record(built: Any) -> None:
    record = built.record("dig.json")
    assert sorted(record) == ["block", "evidence", "inputs", "outcome", "reason", "seconds"]
    assert record["outcome"] == "pass"
    assert record["evidence"] == {"letters": 34}
    wash = built.record("r0/wash.json")
    assert sorted(wash["inputs"]) == ["ore.txt"]
    assert len(wash["inputs"]["ore.txt"]) == 64


def test_a_rule_reruns_its_block_and_what_reads_its_result(built: Any) -> None:
    built.rule("nose", "name: cat")
    assert built.build() == ["smell", "judge"]


def test_a_rule_that_changes_nothing_downstream_of_the_verdict_exports_nothing(built: Any) -> None:
    built.rule("weights", "least: 4")
    assert built.build() == ["scale", "judge"]
    assert built.build() == []


def test_a_changed_artifact_reruns_all_that_read_it(built: Any) -> None:
    built.rule("soap", "kind: strong")
    assert built.build() == ["wash", "scale", "smell", "judge", "sell"]


def test_a_spec_field_reruns_the_block_that_declares_it(built: Any) -> None:
    built.values(description="none")
    assert built.build() == ["wash"]


def test_a_field_that_no_step_declares_reruns_nothing(built: Any) -> None:
    built.values(colour="red")
    assert built.build() == []


def test_order_and_spacing_of_the_spec_rerun_nothing(built: Any) -> None:
    text = '{ "description": "",\n\n "generation": 2, "source": {"path":   "mine"} }'
    (built.root / "values.json").write_text(text)
    assert built.build() == []


def test_content_outside_the_cache_is_an_input(built: Any) -> None:
    (built.root / "mine" / "ore").write_text("gold dirt bronze ")
    assert built.build() == ["dig", "wash", "scale", "smell", "judge", "sell"]


def test_code_reruns_its_block_and_so_does_code_that_it_imports(built: Any) -> None:
    with (built.root / "toyforge" / "blocks" / "scale.py").open("a") as out:
        out.write("# heavier\n")
    assert built.build() == ["scale"]
    with (built.root / "toyforge" / "assay.py").open("a") as out:
        out.write("# finer\n")
    assert built.build() == ["wash"]


def test_payload_bytes_rerun_the_block_that_carries_them(built: Any) -> None:
    (built.root / "toyforge" / "payload" / "cart" / "wheel.txt").write_text("square")
    assert built.build() == ["wash"]


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _tamper(path: Path) -> None:
    target = min(path.iterdir()) if path.is_dir() else path
    target.write_bytes(b"X" + target.read_bytes()[1:])


def _truncate(path: Path) -> None:
    target = min(path.iterdir()) if path.is_dir() else path
    os.truncate(target, 1)


def _keep_times(path: Path) -> None:
    target = min(path.iterdir()) if path.is_dir() else path
    before = target.stat()
    _tamper(path)
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def _add(path: Path) -> None:
    (path / "extra.txt" if path.is_dir() else path.with_name(path.name)).write_text("extra")


DAMAGES = [_delete, _tamper, _truncate, _keep_times, _add]
TARGETS = [
    ("cache/toy/ore.txt", "dig"),
    ("cache/toy/dig.json", "dig"),
    ("cache/toy/r0/clean", "wash"),
    ("cache/toy/r0/smell.ok", "smell"),
    ("cache/toy/verdict.json", "judge"),
    ("dist/drafts/toy", "sell"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_target_is_made_again_and_nothing_else(built: Any, damage: Callable[[Path], None]) -> None:
    for name, block in TARGETS:
        path = built.root / name
        before = {p: p.read_bytes() for p in ([path] if path.is_file() else path.iterdir())}
        damage(path)
        assert built.build() == [block], name
        if path.suffix != ".json":
            assert {p: p.read_bytes() for p in before} == before
    assert built.build() == []


def test_a_target_replaced_by_a_link_is_made_again(built: Any) -> None:
    ore = built.cache / "ore.txt"
    ore.rename(built.root / "elsewhere")
    ore.symlink_to(built.root / "elsewhere")
    assert built.build() == ["dig"]
    assert not ore.is_symlink()


def test_touched_files_rerun_nothing(built: Any) -> None:
    for path in [built.cache / "ore.txt", built.root / "mine" / "ore", built.root / "rules" / "soap.yaml"]:
        os.utime(path)
    assert built.build() == []


def test_a_no_ends_the_revision_and_a_second_run_does_nothing(toy: Any) -> None:
    toy.rule("weights", "least: 1000")
    assert toy.build() == ["dig", "wash", "scale", "smell", "judge"]
    assert (toy.outcome, toy.exit) == ("drop", 1)
    assert toy.record("verdict.json")["refused"] == ["scale"]
    assert toy.record("verdict.json")["records"] == ["dig", "scale", "smell", "wash"]
    assert not (toy.root / "dist" / "toy").exists()
    assert toy.build() == []
    assert toy.exit == 1


def test_a_later_record_of_an_earlier_build_is_not_believed(built: Any) -> None:
    (built.root / "mine" / "ore").write_text("")
    assert built.build() == ["dig", "judge"]
    verdict = built.record("verdict.json")
    assert verdict["records"] == ["dig"]
    assert verdict["saw"] == []
    assert not (built.cache / "ore.txt").exists()
    assert not (built.root / "dist" / "drafts" / "toy").exists()
    assert built.build() == []


def test_going_back_to_yes_runs_only_what_the_no_undid(built: Any) -> None:
    (built.root / "mine" / "ore").write_text("")
    built.build()
    (built.root / "mine" / "ore").write_text("gold dirt silver ")
    assert built.build() == ["dig", "judge", "sell"]
    assert (built.outcome, built.exit) == ("draft", 0)


def test_a_kill_while_a_block_runs_leaves_nothing_that_is_trusted(toy: Any) -> None:
    toy.values(description="killed")
    assert toy.build() == []
    assert toy.exit == -signal.SIGKILL
    assert not (toy.cache / "r0" / "clean").exists()
    toy.values(description="")
    assert toy.build() == [b for b in ALL if b != "dig"]
    assert list(toy.cache.rglob("*.part")) == []
    assert not (toy.cache / "scratch").exists()


def test_an_edit_reverted_after_a_kill_gives_the_first_bytes(built: Any) -> None:
    before = (built.cache / "r0" / "clean" / "0.txt").read_bytes()
    built.rule("soap", "kind: strong")
    built.values(description="killed")
    built.build()
    built.rule("soap", "kind: mild")
    built.values(description="")
    assert built.build() == []
    assert (built.cache / "r0" / "clean" / "0.txt").read_bytes() == before


def test_an_input_edited_while_the_block_runs_is_not_recorded(toy: Any) -> None:
    toy.values(description="input_edited")
    assert toy.build() == ["dig"]
    assert toy.exit == 2
    assert "rules/soap changed while it ran; nothing was recorded" in toy.said
    assert not (toy.cache / "r0" / "wash.json").exists()
    toy.build()
    assert "kind: other" in (toy.root / "rules" / "soap.yaml").read_text()
    assert (toy.cache / "r0" / "clean" / "0.txt").read_text() == "other gold\n"


def test_infra_ends_with_two_and_the_next_run_resumes(toy: Any) -> None:
    toy.values(description="infra")
    assert toy.build() == ["dig"]
    assert (toy.outcome, toy.exit) == ("infra", 2)
    assert "the water is off; open the tap" in toy.said
    assert "Traceback" not in toy.said
    toy.values(description="")
    assert toy.build() == ALL[1:]


@pytest.mark.parametrize(
    ("trouble", "found"),
    [
        ("bug", "ZeroDivisionError: soap / 0"),
        ("undeclared", "rule 'weights' is not declared by the step"),
        ("forgets_output", "did not write ['r/clean/']"),
    ],
)
def test_a_bug_of_a_block_is_one_line_and_a_traceback_in_its_log(toy: Any, trouble: str, found: str) -> None:
    toy.values(description=trouble)
    toy.build()
    log = toy.cache / "logs" / "r0.wash.log"
    assert (toy.outcome, toy.exit) == ("bug", 2)
    assert str(log) in toy.said
    assert "Traceback" not in toy.said
    assert found in log.read_text()


def test_a_fault_of_one_branch_lets_the_other_finish(toy: Any) -> None:
    toy.rule("weights", "most: 3")
    assert toy.build(workers=2) == ["dig", "wash", "smell"]
    assert toy.exit == 2
    toy.rule("weights", "least: 3")
    assert toy.build(workers=2) == ["scale", "box", "judge", "sell"]


def test_workers_change_nothing(toy: Any) -> None:
    assert toy.build(workers=2) == ALL
    assert toy.build(workers=4) == []


def test_what_a_block_says_is_in_its_log(built: Any) -> None:
    assert (built.cache / "logs" / "dig.log").read_text() == "dug 34 letters\n"


def test_a_database_that_is_none_is_dropped(built: Any) -> None:
    (built.cache / ".doit.db").write_bytes(b"garbage" * 100)
    assert built.build() == ALL
    assert built.build() == []


def test_a_moved_project_is_up_to_date(built: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("moved") / "project"
    shutil.copytree(built.root, other)
    command = built.command()
    command[2] = str(other)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert '"ran": []' in done.stdout


def _started(toy: Any) -> subprocess.Popen[bytes]:
    toy.values(description="slow")
    running = subprocess.Popen(toy.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not (toy.root / "started").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return running


def test_two_builds_of_a_spec_at_once_are_refused(toy: Any) -> None:
    running = _started(toy)
    try:
        assert toy.build() == []
        assert toy.exit != 0
        assert f"another build of toy is running, pid {running.pid}" in toy.said
    finally:
        running.kill()
        running.communicate()
    toy.values(description="")
    assert toy.build() == ALL[1:]


@pytest.mark.parametrize("shift", [-(10**9), 10**9])
def test_a_clock_that_jumped_reruns_nothing_and_hides_nothing(built: Any, shift: int) -> None:
    for path in [p for p in built.root.rglob("*") if p.is_file() and "store" not in p.parts]:
        at = path.stat().st_mtime + shift
        os.utime(path, (at, at))
    assert built.build() == []
    ore = built.root / "mine" / "ore"
    ore.write_text("lead dirt silver ")  # as long as before
    os.utime(ore, (ore.stat().st_mtime + shift,) * 2)
    assert built.build() == ["dig", "wash", "scale", "smell", "judge", "sell"]


def test_a_process_that_a_killed_run_left_is_ended_and_a_strangers_is_not(toy: Any) -> None:
    stranger = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    toy.cache.mkdir(parents=True)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    (toy.cache / "run.json").write_text(json.dumps({"pid": stranger.pid, "began": 1, "boot": boot, "leads": True}))
    try:
        assert toy.build() == ALL
        assert stranger.poll() is None
        assert not (toy.cache / "run.json").exists()
    finally:
        stranger.kill()
        stranger.wait()
