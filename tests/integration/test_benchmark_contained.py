"""The benchmark of a verifier in a container has a figure for each bar where an engine answers, and says where not."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programsmith.rulebook.load import Rulebook
from tests.contract.backends import base_image

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
BARS = Rulebook(None).load("bars")["contained"]


def test_without_an_engine_its_rows_are_missing(tmp_path: Path) -> None:
    words = [sys.executable, str(BENCHMARKS / "contained.py"), "--quick", "--json"]
    env = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/nobody"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["bars"] == dict.fromkeys(BARS, "missing")
    assert "no Docker engine answers" in answer["versions"]["c_1ms"]


@pytest.mark.docker
def test_a_row_has_the_containers_time_and_the_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base_image("python")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import contained as module

    row: Any = next(row for row in module.ROWS if row.name == "python_1ms")
    answer = module.Answer("contained", quick=True)
    tmp_path.chmod(0o755)
    module.measure(dataclasses.replace(row, cases=3), tmp_path, 1, answer)
    for name in ("bars", "launch", "scans", "verifier", "contained"):
        sys.modules.pop(name, None)
    figures = answer.figures
    assert 0 < figures["contained_python_1ms_ms"] < figures["whole_python_1ms_ms"]
    assert answer.ratios["loop_over_contained_python_1ms"] > 0
    assert {f"loop_over_contained_{row.name}" for row in module.ROWS} == set(BARS)
