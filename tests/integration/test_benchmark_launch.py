"""The launch benchmark measures launchers that isolate and answer rightly, and sees verdicts that change."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programsmith.payload.verifier.launcher import Request, Result
from programsmith.rulebook.load import Rulebook

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import launch as module

    yield module
    for name in ("bars", "launch"):
        sys.modules.pop(name, None)


@pytest.fixture
def folder(launch: Any, tmp_path: Path) -> Path:
    place = tmp_path / "built"
    place.mkdir(mode=0o755)
    if not launch.built(place):
        pytest.skip("needs a C compiler: apt-get install -y gcc libc6-dev")
    return place


class Altered:
    """A launcher whose results are altered on the way."""

    name = "altered"

    def __init__(self, inner: Any, alter: Any) -> None:
        self._inner, self._alter, self._count = inner, alter, 0

    def probe(self) -> tuple[str, ...]:
        return self._inner.probe()

    def run(self, request: Request) -> Result:
        self._count += 1
        return self._alter(self._count, self._inner.run(request))


def test_every_bar_has_its_figure(launch: Any, folder: Path) -> None:
    plan = launch.Plan(rounds=2, batch=4, batches=1, stable=3, runs=2)
    answer = launch.Answer("launch", quick=True)
    with launch.opened("compiled") as compiled:
        launch.prove(compiled, folder)
        launch.measure({"compiled": compiled}, folder, plan, answer)
    found = {**answer.figures, **answer.ratios}
    assert set(Rulebook(None).load("bars")["launch"]) <= set(found)
    assert {name for name, value in found.items() if value == launch.MISSING} == {"noop_bwrap", "five_ms_bwrap"}
    assert found["five_ms_compiled_ms"] > 5
    assert (found["changes_under_hogs"], found["cases_under_hogs"]) == (0, 6)


def test_a_launcher_that_answers_wrongly_is_refused(launch: Any, folder: Path) -> None:
    with launch.opened("compiled") as inner:
        liar = Altered(inner, lambda _, result: dataclasses.replace(result, stdout=b"1\n"))
        with pytest.raises(RuntimeError, match="altered: wanted 0 and exit 0"):
            launch.prove(liar, folder)


def test_a_verdict_that_changes_is_counted(launch: Any, folder: Path) -> None:
    plan = launch.Plan(rounds=1, batch=1, batches=1, stable=2, runs=3)
    with launch.opened("compiled") as inner:
        moody = Altered(inner, lambda n, result: dataclasses.replace(result, exit_code=int(n > 4)))
        assert launch.changes(moody, folder, plan) == 2
