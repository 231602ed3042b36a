"""The benchmark of goldens runs the pipeline's own blocks, and ends where a program gives no pool."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def goldens(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    sys.modules.pop("goldens", None)
    import goldens as module

    yield module
    for name in ("bars", "goldens"):
        sys.modules.pop(name, None)


@pytest.mark.skipif(not shutil.which("go"), reason="no go: apt-get install -y golang-go")
def test_a_pool_of_a_small_program_is_made_and_measured(goldens: Any) -> None:
    made = goldens.row("go", goldens.Size(rows=12, mutants=3), "compiled")
    assert 0 < made.kept <= 12
    assert made.launches >= 4 * made.kept
    assert made.mutants == 3
    assert min(made.capture, made.strength) > 0


def test_what_is_absent_here_is_no_row(goldens: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(goldens.TOOLS, "rust", "no-such-compiler")
    assert goldens.row("rust", goldens.QUICK, "compiled") is None


def test_a_program_that_gives_no_pool_ends_the_benchmark(goldens: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(goldens.TOOLS, "go", sys.executable)
    monkeypatch.setitem(goldens.LAID["go"], "main.go", "package main\n\n// nothing that could be built\n")
    with pytest.raises(RuntimeError, match="said "):
        goldens.row("go", goldens.Size(rows=3, mutants=1), "compiled")
