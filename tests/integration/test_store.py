"""The store under the small pipeline: what is restored, what is made again, what two builds share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ALL = ["dig", "wash", "scale", "smell", "box", "judge", "sell"]
RESTORED = ALL[:-1]  # the shelf is outside of the cache, so selling is done again


def restored(toy: Any) -> list[str]:
    """Blocks of the last build that came from the store."""
    lines = [line for line in toy.said.splitlines() if "from the store]" in line]
    return sorted((line.split()[1].rpartition(":")[2] for line in lines), key=ALL.index)


def content(folder: Path) -> dict[str, bytes]:
    kept = [p for p in folder.rglob("*") if p.is_file() and "logs" not in p.parts]
    return {str(p.relative_to(folder)): p.read_bytes() for p in kept if p.name not in {".doit.db", "lock", "sell.json"}}


@pytest.fixture
def built(toy: Any) -> Any:
    assert toy.build() == ALL
    assert restored(toy) == []
    return toy


def test_a_deleted_cache_comes_back_from_the_store_byte_by_byte(built: Any) -> None:
    before = content(built.cache)
    shutil.rmtree(built.cache)
    shutil.rmtree(built.root / "dist")
    assert built.build() == ALL
    assert restored(built) == RESTORED
    assert content(built.cache) == before
    assert built.build() == []


def test_an_edit_taken_back_is_restored(built: Any) -> None:
    built.rule("soap", "kind: strong")
    built.build()
    assert restored(built) == []
    built.rule("soap", "kind: mild")
    assert built.build() == ["wash", "scale", "smell", "judge", "sell"]
    assert restored(built) == ["wash", "scale", "smell", "judge"]


def test_a_no_is_restored_as_a_no(built: Any) -> None:
    built.rule("weights", "least: 1000")
    assert built.build() == ["scale", "judge"]
    shutil.rmtree(built.cache)
    built.build()
    assert restored(built) == ["dig", "wash", "scale", "smell", "judge"]
    assert (built.outcome, built.exit) == ("drop", 1)


def test_another_checkout_takes_what_this_one_made(built: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "checkout"
    shutil.copytree(built.root, other, ignore=shutil.ignore_patterns("cache", "dist"))
    command = built.command()
    command[2] = str(other)
    env = {**os.environ, "PROGRAMSMITH_STORE": str(built.root / "cache" / "store")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
    assert done.stderr.count("from the store]") == len(RESTORED), done.stderr
    assert content(other / "cache" / "toy") == content(built.cache)


def test_two_checkouts_that_build_at_once_make_each_block_once(
    toy: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    env = {**os.environ, "PROGRAMSMITH_STORE": str(toy.root / "store")}
    other = tmp_path_factory.mktemp("other") / "checkout"
    shutil.copytree(toy.root, other)
    commands = [[*toy.command()[:2], str(root), "1"] for root in (toy.root, other)]
    running = [subprocess.Popen(c, stdout=-1, stderr=-1, text=True, env=env) for c in commands]
    said = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert sum(err.count("from the store]") for _, err in said) == len(RESTORED)


def test_without_the_store_key_sealed_work_is_done_again_and_the_log_says_why(built: Any) -> None:
    shutil.rmtree(built.cache)
    env = {**os.environ, "PROGRAMSMITH_STORE_KEY": "ab" * 32}
    done = subprocess.run(built.command(), capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 0
    assert "from the store]" not in done.stderr
    assert "not taken from the store: it is sealed with another store key" in (built.cache / "logs/dig.log").read_text()


def test_a_key_that_is_none_is_wrong_input(toy: Any) -> None:
    env = {**os.environ, "PROGRAMSMITH_WRITER_KEY": "abc"}
    done = subprocess.run(toy.command(), capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 3
    assert "PROGRAMSMITH_WRITER_KEY: wanted a key of 64 hexadecimal digits" in done.stderr


@pytest.mark.parametrize("space", ["ac", "sealed"])
def test_a_damaged_store_costs_work_and_nothing_else(built: Any, space: str) -> None:
    before = content(built.cache)
    for path in [p for p in (built.root / "cache" / "store" / space).rglob("*") if p.is_file()]:
        path.write_bytes(path.read_bytes()[:-7])
    shutil.rmtree(built.cache)
    assert built.build() == ALL
    assert restored(built) == []
    fresh = {name: raw for name, raw in content(built.cache).items() if not name.endswith(".json")}
    assert fresh == {name: raw for name, raw in before.items() if not name.endswith(".json")}
    shutil.rmtree(built.cache)
    built.build()
    assert restored(built) == RESTORED


def test_infra_is_never_kept(toy: Any) -> None:
    toy.values(description="infra")
    assert toy.build() == ["dig"]
    shutil.rmtree(toy.cache)
    assert toy.build() == ["dig"]
    assert restored(toy) == ["dig"]
    assert toy.exit == 2


def test_a_kill_while_a_block_runs_loses_that_block_alone(toy: Any) -> None:
    toy.values(description="killed")
    toy.build()
    shutil.rmtree(toy.cache)
    toy.values(description="")
    assert toy.build() == ALL
    assert restored(toy) == ["dig"]


def test_gc_and_settle_are_verbs(built: Any) -> None:
    (built.root / "specs").mkdir()
    (built.root / "specs" / "toy.yaml").write_text("version: 1\nname: toy\nsource: {path: mine}\n")

    def verb(*words: str) -> tuple[int, Any, str]:
        command = [sys.executable, "-m", "programsmith", *words]
        done = subprocess.run(command, cwd=built.root, capture_output=True, text=True, timeout=60)
        return done.returncode, json.loads(done.stdout or "null"), done.stderr

    found = verb("gc", "--days", "0")[1]
    assert (found["entries"], found["roots"], found["roots_kept"]) == (0, 0, 1)
    (built.root / "specs" / "toy.yaml").rename(built.root / "specs" / "other.yaml")
    (built.root / "specs" / "other.yaml").write_text("version: 1\nname: other\nsource: {path: mine}\n")
    assert verb("gc")[1]["entries"] == 0
    assert verb("gc", "--days", "0")[1]["entries"] == len(RESTORED)
    assert [verb("gc", name, "-1")[0] for name in ("--days", "--forget")] == [3, 3]
    assert verb("settle")[1] == {"other": {"spent": 0.0, "held": []}}
    for words in (["--id", "x"], ["--id", "x", "--usd", "-1"], ["--id", "x", "--usd", "1"]):
        assert verb("settle", "spec=other", *words)[0] == 3, words
