"""What .ci/run holds the built example to: each promise that a record breaks is named."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from programsmith.records import codec
from programsmith.records.labels import Labels
from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict
from tests.samples.trials import attempt, labels

ROOT = Path(__file__).parents[2]
SHIPPED = Verdict(
    outcome=Word.SHIP, q=1, b=1, v=1, h=1, not_s=1, revision=1, environments=(), reasons=("accepted",)
)  # fmt: skip


@pytest.fixture(scope="module")
def ci() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ci_example", ROOT / ".ci" / "example.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tried(passes: int, of: int = 6, artifacts: int = 6) -> Labels:
    """Trials of one scripted agent of which some pass, each with its artifact as far as there are so many."""
    rows = [
        attempt(i, *(() if i < passes else (["h1"], ["p1"])), agent="scripted", artifact=f"a{i % artifacts}")
        for i in range(of)
    ]
    return labels(*rows)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A project in which the example shipped at its second revision, as far as the promises are about it."""
    (tmp_path / "specs").mkdir()
    shutil.copy(ROOT / "specs" / "tally.yaml", tmp_path / "specs")
    for name in ("tally", "tally-solvers"):
        shutil.copytree(ROOT / "specs" / name, tmp_path / "specs" / name)
    lay(tmp_path, 0, tried(6))
    lay(tmp_path, 1, tried(1))
    codec.dump(tmp_path / "cache" / "tally" / "verdict.json", SHIPPED)
    return tmp_path


def lay(root: Path, revision: int, found: Labels) -> None:
    folder = root / "cache" / "tally" / f"r{revision}" / "b0"
    folder.mkdir(parents=True, exist_ok=True)
    evidence = {"labels": codec.encode(found)}
    record = Record(block="triage", outcome=Word.DONE, reason="", evidence=evidence, inputs={}, seconds=0.0)
    codec.dump(folder / "triage.json", record)


def test_an_example_that_keeps_its_promises_has_no_fault(ci: ModuleType, built: Path) -> None:
    assert list(ci.missing(built)) == []


def test_what_ran_again_is_told_from_what_came_from_the_store(ci: ModuleType) -> None:
    said = (
        "tally  ingest        pass          0.1 s  30 files [odd; ones]  [never built; from the store]\n"
        "tally  r0:b0:trial:scripted:solver:1  done          0.4 s  ended  [never built]\n"
        "tally  r1:images     pass          2.0 s  two stages  [altered]\n"
        "other  r0:create     pass          2.0 s  made  [never built]\n"
    )
    assert ci.RAN.findall(said) == [
        ("ingest", "never built; from the store"),
        ("trial", "never built"),
        ("images", "altered"),
    ]


def test_a_rebuild_that_does_not_ship_is_named(ci: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "specs" / "tally").mkdir(parents=True)
    (tmp_path / "specs" / "tally" / "tally.py").write_text("print(1)\n")
    (tmp_path / "specs" / "tally.yaml").write_text("version: 1\nname: tally\nsource: {path: specs/tally}\n")
    folder = tmp_path / "cache" / "tally"
    folder.mkdir(parents=True)
    codec.dump(folder / "verdict.json", SHIPPED)
    (line,) = ci.unkept(tmp_path)
    assert line.startswith("wanted the build from the store to ship, got exit code 1: ")


def test_each_broken_promise_is_named(ci: ModuleType, built: Path) -> None:
    verdict = built / "cache" / "tally" / "verdict.json"
    codec.dump(verdict, replace(SHIPPED, outcome=Word.DRAFT))
    assert list(ci.missing(built)) == ["wanted ship at r1 or later, got draft at r1"]
    codec.dump(verdict, replace(SHIPPED, revision=0))
    assert list(ci.missing(built)) == ["wanted ship at r1 or later, got ship at r0"]
    codec.dump(verdict, SHIPPED)
    lay(built, 1, tried(0))
    assert list(ci.missing(built)) == ["wanted 6 different artifacts, one of which scores 1, got 6 and 0 at most"]
    lay(built, 1, tried(1, artifacts=5))
    assert list(ci.missing(built)) == ["wanted 6 different artifacts, one of which scores 1, got 5 and 1 at most"]
    lay(built, 0, tried(3))
    lay(built, 1, tried(1))
    (line,) = ci.missing(built)
    assert line.startswith("r0: wanted one decision at every confidence, got {0.7: ")
