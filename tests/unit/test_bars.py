"""Benchmarks are held to rules/bars.yaml: a miss is exit code 1, what is missing or cannot be judged is none."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programsmith.errors import InputError
from programsmith.rulebook.load import Rulebook

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
GOOD: dict[str, Any] = {
    "one_of_1000_vs_version": 1.2,
    "null_1000_vs_make": 0.5,
    "null_1000_vs_snakemake": 30.0,
}


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import bars as module

    yield module
    del sys.modules["bars"]


def ended(bars: Any, capsys: pytest.CaptureFixture[str], *, idle: float = 2.0, **changed: Any) -> tuple[int, Any]:
    ms = changed.pop("one_of_1000_ms", 90.0)
    answer = bars.Answer("engine", quick=True, figures={"one_of_1000_ms": ms}, ratios={**GOOD, **changed}, idle=idle)
    code = answer.end(as_json=True)
    return code, json.loads(capsys.readouterr().out)


def test_figures_within_their_bars_pass(bars: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = ended(bars, capsys)
    assert (code, told["pass"]) == (0, True)
    assert set(told["bars"].values()) == {True}
    assert told["ratios"] == GOOD
    assert told["machine"]["cores"] >= 1


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("one_of_1000_ms", 151.0),
        ("one_of_1000_vs_version", 2.01),
        ("null_1000_vs_make", 1.01),
        ("null_1000_vs_snakemake", 9.9),
    ],
)
def test_one_beyond_its_bar_is_a_miss(bars: Any, capsys: pytest.CaptureFixture[str], name: str, figure: float) -> None:
    code, told = ended(bars, capsys, **{name: figure})
    assert (code, told["pass"], told["bars"][name]) == (1, False, False)


def test_a_tool_that_is_absent_is_missing_and_no_miss(bars: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = ended(bars, capsys, null_1000_vs_snakemake=bars.MISSING)
    assert (code, told["bars"]["null_1000_vs_snakemake"]) == (0, "missing")


def test_milliseconds_are_judged_on_an_idle_machine_alone(bars: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = ended(bars, capsys, idle=1.1, one_of_1000_ms=900.0)
    assert (code, told["bars"]["one_of_1000_ms"]) == (0, "not judged: 1.1 cores were idle")
    assert ended(bars, capsys, idle=1.9, one_of_1000_ms=900.0)[0] == 1


def test_a_run_is_timed_and_one_that_fails_is_told(bars: Any, tmp_path: Path) -> None:
    ran = bars.run([sys.executable, "-c", "import time; time.sleep(0.05)"], tmp_path)
    assert ran.wall >= 50
    assert ran.cpu > 0
    with pytest.raises(RuntimeError, match="ended with 3: no luck"):
        bars.run([sys.executable, "-c", "import sys; sys.stderr.write('no luck'); sys.exit(3)"], tmp_path)


def test_ratios_are_medians_of_pairs(bars: Any) -> None:
    over = [bars.Run(wall, 0.0) for wall in (2.0, 9.0, 4.0)]
    under = [bars.Run(wall, 0.0) for wall in (1.0, 1.0, 2.0)]
    assert bars.ratio(over, under) == 2.0
    assert bars.median(over).wall == 4.0


@pytest.mark.parametrize("name", list(Rulebook(None).load("bars")))
def test_every_bar_has_one_side(name: str) -> None:
    for figure, bar in Rulebook(None).load("bars")[name].items():
        assert len({"most", "least"} & bar.keys()) == 1, figure
    assert (BENCHMARKS / f"{name}.py").is_file()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("engine: {a: {most: 1}}", "engine.a.what: wanted text"),
        ("engine: {a: {what: x, most: fast}}", "engine.a.most: wanted a number"),
        ("engine: {a: {what: x, more: 1}}", "engine.a.more"),
        ("engine: {a: {what: x}}", "engine.a"),
        ("engine: {}", "engine"),
    ],
)
def test_wrong_bars_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "bars.yaml").write_text(text + "\n")
    with pytest.raises(InputError, match=f"rules/bars.yaml:1: {said}"):
        Rulebook(tmp_path).load("bars")
