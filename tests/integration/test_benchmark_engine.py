"""The engine's benchmark compares like with like: every tool takes the fleet for up to date, and finds a change."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MODULES = ("bars", "engine", "fleet", "rivals")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import engine as module

    yield module
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture
def fleet(engine: Any, tmp_path: Path) -> Any:
    names = {f"spec{number}": "ship" for number in range(4)}
    return engine.lay(tmp_path, names, engine.Size(source=8, cases=2, others=1, trials=2))


def test_all_tools_agree_on_what_is_dirty(engine: Any, fleet: Any) -> None:
    found = {name: rival for name, rival in engine.rivals().items() if name != engine.SLOW}
    if found["make"] is None:
        pytest.skip("needs GNU make: apt-get install make")
    engine.prove(fleet, fleet.names, found)


def test_a_fleet_that_is_not_up_to_date_is_refused(engine: Any, fleet: Any) -> None:
    shutil.rmtree(fleet.project.root / "cache" / "spec2")
    with pytest.raises(RuntimeError, match="found 3 of 4 specs up to date"):
        engine.prove(fleet, fleet.names, {})


def test_a_tool_that_misses_a_change_is_refused(engine: Any, fleet: Any) -> None:
    blind = engine.Rival(name="blind", program="true", build=(), dry=())
    with pytest.raises(RuntimeError, match=r"blind: wanted .'spec2'. dirty, got .."):
        engine.prove(fleet, fleet.names, {"blind": blind})


def test_the_graph_names_every_file_that_is_there(engine: Any, fleet: Any) -> None:
    root = fleet.project.root
    known = {path for node in fleet.nodes for path in (*node.reads, *node.writes)}
    assert all((root / path).is_file() for path in known)
    here = {str(path.relative_to(root)) for top in ("cache", "dist", "specs") for path in (root / top).rglob("*")}
    apart = {path for path in here if (root / path).is_file()} - known
    assert {Path(path).name for path in apart} == {".doit.db", "solver.py"}
