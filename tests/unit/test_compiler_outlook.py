"""What is to be expected of a build: phrases of causes, what stands behind them, the most that can be bought."""

from __future__ import annotations

import json
import math
import os
import sqlite3
from pathlib import Path

import pytest

from programsmith.compiler import causes
from programsmith.compiler.compile import Compiler
from programsmith.compiler.estimate import Bought, Try, bought
from programsmith.compiler.leftovers import running
from programsmith.compiler.origins import Origin, Parts, differences
from programsmith.compiler.outlook import outlook
from programsmith.compiler.paths import Project
from programsmith.compiler.remembered import remembered
from programsmith.compiler.slices import json_digest
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.sandboxes.owners import began

EVERY = (0.5, 0.5, 2.0)


def tried(revision: int = 0, usd: float = 0.5, *, sure: bool = False, likely: bool = False) -> Try:
    return Try(revision=revision, sure=sure, likely=likely, usd=usd)


@pytest.mark.parametrize(
    ("name", "was", "new", "details", "text"),
    [
        ("rules/checks", "a", "b", [], "rules/checks.yaml changed"),
        ("rules/prompts/instruction.md", "a", "b", [], "rules/prompts/instruction.md changed"),
        ("rules/limits", None, "b", [], "rules/limits.yaml is read now"),
        ("spec.goldens", "a", "b", ["goldens.held_out: 40, was 30"], "goldens.held_out: 40, was 30"),
        ("spec.goldens", "a", "b", [], "spec.goldens changed"),
        ("spec.old", "a", None, [], "spec.old is read no more"),
        ("code", "a", "b", ["p.a", "p.b", "p.c", "p.d", "p.e"], "code changed: p.a, p.b, p.c and 2 more"),
        ("payload/verifier", "a", "b", ["plan.py"], "payload/verifier changed: plan.py"),
        ("lock.json", "a", "absent", [], "lock.json is gone"),
        ("r/bundle/", "a", "b", [], "r/bundle/ changed"),
        ("record static", "a", "b", [], "the record of static changed"),
        ("source.path", "a", "b", [], "files below source.path changed"),
        ("host", "a", "b", [], "this host changed"),
    ],
)
def test_a_cause_is_one_phrase(name: str, was: str | None, new: str | None, details: list[str], text: str) -> None:
    assert causes.changed(name, was, new, details) == text


def test_a_cause_that_another_task_makes_names_it() -> None:
    assert causes.anew("record static", "tally:r0:static") == "record of r0:static would be made anew"
    assert causes.anew("lock.json", "tally:ingest") == "lock.json of ingest would be made anew"


def test_what_differs_in_a_field_is_told_with_both_values() -> None:
    was = {"a": {"b": 1, "c": [1, {"d": None}]}, "t": "x"}
    new = {"a": {"b": 2, "c": [1, {"d": True}]}, "t": "y" * 99}
    before, now = Origin(spec={"f": was}, files={}), Origin(spec={"f": new}, files={})
    assert differences("spec.f", json_digest(was), before, now) == [
        "f.a.b: 2, was 1",
        "f.a.c[1].d: true, was none",
        f"f.t: {'y' * 40}…, was x",
    ]
    assert differences("spec.f", "another digest", before, now) == []
    assert differences("spec.g", json_digest(None), before, now) == []


def test_what_differs_in_code_is_told_by_module() -> None:
    before = Origin(spec={}, files={"code": Parts(digest="1", parts={"p.a": "x", "p.b": "x", "p.gone": "x"})})
    now = Origin(spec={}, files={"code": Parts(digest="2", parts={"p.a": "x", "p.b": "y", "p.new": "z"})})
    assert differences("code", "1", before, now) == ["p.b", "p.gone", "p.new"]
    assert differences("code", "0", before, now) == []
    assert differences("payload/x", "1", before, now) == []


@pytest.mark.parametrize(
    ("tries", "opens", "last", "found"),
    [
        ([], None, 3, (0, 0, 0, 0.0)),
        ([tried(), tried(sure=True)], None, 3, (1, 1, 1, 0.5)),
        ([tried(likely=True), tried(sure=True)], None, 3, (2, 0, 1, 0.5)),
        ([], 0, 0, (0, 0, 3, 3.0)),
        ([tried(sure=True), tried(sure=True)], 0, 0, (2, 0, 1, 2.0)),
        ([tried(sure=True), tried(), tried(1, sure=True)], 0, 1, (2, 1, 5, 5.5)),
        ([tried(), tried(sure=True), tried(1)], 1, 2, (1, 2, 7, 6.5)),
    ],
)
def test_the_most_that_any_way_buys(
    tries: list[Try], opens: int | None, last: int, found: tuple[int, int, int, float]
) -> None:
    reused, new, most, usd = found
    assert bought(tries, opens, EVERY, last) == Bought(reused=reused, bought=new, at_most=most, usd_at_most=usd)


def test_a_price_that_cannot_be_told_has_no_bound() -> None:
    assert bought([tried(usd=math.inf)], 0, (math.inf,), 0).usd_at_most == math.inf
    assert bought([tried(usd=math.inf, sure=True)], 0, (math.inf,), 0).usd_at_most != math.inf


def database(path: Path, rows: dict[str, str]) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("create table task (name text primary key, saved text) without rowid")
        connection.executemany("insert into task values (?, ?)", rows.items())
    connection.close()
    return path


def test_what_is_remembered_is_read_and_never_written(tmp_path: Path) -> None:
    path = database(tmp_path / ".doit.db", {"a": '{"_values_:": {"slice": {"x": "1"}}, "deps:": []}', "b": "{}"})
    before = path.stat()
    assert remembered(path) == {"a": {"slice": {"x": "1"}}}
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert [p.name for p in tmp_path.iterdir()] == [".doit.db"]
    assert remembered(tmp_path / "none") == {}
    assert not (tmp_path / "none").exists()


def test_rubbish_says_nothing_and_stays(tmp_path: Path) -> None:
    path = tmp_path / ".doit.db"
    path.write_bytes(b"no database at all" * 100)
    assert remembered(path) == {}
    assert path.read_bytes() == b"no database at all" * 100


def test_what_a_killed_writer_left_is_read_as_it_was_before_it(tmp_path: Path) -> None:
    path = database(tmp_path / ".doit.db", {"a": '{"_values_:": {"because": "first"}}'})
    child = os.fork()
    if child == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("pragma cache_size = 1")
        connection.execute("begin")
        connection.execute("update task set saved = ?", ['{"_values_:": {"because": "second"}}'])
        connection.executemany("insert into task values (?, ?)", [(str(i), "{}" * 2000) for i in range(99)])
        os._exit(0)
    os.waitpid(child, 0)
    files = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert sorted(files) == [".doit.db", ".doit.db-journal"]
    assert remembered(path) == {"a": {"because": "first"}}
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == files


def test_a_run_that_is_gone_does_not_go_on(tmp_path: Path) -> None:
    folder = Project(tmp_path).folder("toy")
    assert running(folder) is None
    folder.root.mkdir(parents=True)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    own = began(os.getpid())
    for since, of, pid in ((own, boot, os.getpid()), (1, boot, None), (0, boot, None), (own, "another boot", None)):
        folder.run.write_text(json.dumps({"pid": os.getpid(), "began": since, "boot": of, "leads": False}))
        assert running(folder) == pid
    folder.run.write_text("[]")
    assert running(folder) is None


def test_a_block_that_wanted_more_than_there_is_now_is_taken_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "src").mkdir()
    spec = tmp_path / "specs" / "t.yaml"
    asks = "rollouts: [{agent: nop}]\ndifficulty: [{pass_rate: {max: 0.5}, trials_max: %d}]\n"
    said = tmp_path / "cache" / "t" / "r0" / "b0" / "calibrate.json"
    said.parent.mkdir(parents=True)
    more = Record(block="calibrate", outcome=Word.MORE, reason="", evidence={}, inputs={}, seconds=0.0)
    codec.dump(said, more)
    for most, trials in ((9, 9), (6, 6)):
        spec.write_text("name: t\nsource: {path: src}\n" + asks % most)
        compiler, project = Compiler(), Project(tmp_path)
        found = outlook(compiler, project, spec)
        assert found.fault is None
        names = [prospect.name for prospect in found.prospects]
        assert [turn.name for turn in compiler.view(compiler.subject(project, spec))] == names
        assert len([name for name in names if ":trial:" in name]) == trials
        assert names[-1] == "t:r0:export"
