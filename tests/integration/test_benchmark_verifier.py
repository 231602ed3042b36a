"""The verifier benchmark measures three verifiers that find the same submission right, and sees one that does not."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programsmith.rulebook.load import Rulebook

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CASES = 3


@pytest.fixture
def verifier(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import verifier as module

    yield module
    for name in ("bars", "launch", "scans", "verifier"):
        sys.modules.pop(name, None)


@pytest.fixture
def row(verifier: Any) -> Any:
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler: apt-get install -y gcc libc6-dev")
    return dataclasses.replace(verifier.ROWS[0], quick=CASES, cases=CASES)


@pytest.fixture
def bench(verifier: Any, row: Any, tmp_path: Path) -> Any:
    tmp_path.chmod(0o755)
    return verifier.Bench(row, tmp_path / "bench", CASES)


def test_every_bar_has_its_figure(verifier: Any, row: Any, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    answer = verifier.Answer("verifier", quick=True)
    amount = dataclasses.replace(
        verifier.QUICK,
        launches=verifier.launch.Plan(rounds=1, batch=2, batches=1, stable=2, runs=1),
    )
    for one in verifier.ROWS:
        small = dataclasses.replace(one, milliseconds=1, quick=CASES)
        verifier.measure(small, tmp_path, amount, answer)
    verifier.isolation(tmp_path, amount.launches, answer)
    found = {**answer.figures, **answer.ratios}
    assert set(Rulebook(None).load("bars")["verifier"]) <= set(found)
    lacking = {name for name, value in found.items() if value == verifier.MISSING}
    assert not lacking or not shutil.which("strace") or any("libc6-dev" in v for v in answer.versions.values()), lacking
    assert (found["grade_changes_under_hogs"], found["changes_under_hogs"]) == (0, 0)


def test_a_wrong_submission_is_refused_by_all_three(bench: Any) -> None:
    wrong = (bench._submission / "main.c").read_text().replace("%ld\\n", "%ld \\n")
    (bench._submission / "main.c").write_text(wrong)
    for way in (bench.verifier, bench.loop, bench.scans):
        with pytest.raises(RuntimeError, match="c_1ms"):
            way()


def test_the_scans_find_what_they_are_for(bench: Any) -> None:
    bench._built()
    place = bench._bare

    def said(step: str) -> str:
        words = [sys.executable, "-I", str(BENCHMARKS / "scans.py"), step, str(place)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (3 if done.stdout.strip() else 0, "")
        return done.stdout

    assert [said(step) for step in ("smuggled", "submission", "similarity")] == ["\n"] * 3
    oracle = (place / "oracle").read_bytes()
    (place / "submission" / "vendor").mkdir()
    (place / "submission" / "vendor" / "packed").write_bytes(zlib.compress(oracle))
    assert "as zlib" in said("submission")
    assert "vendored" in said("submission")
    padded = oracle + bytes(60_000)
    for path in (place / "oracle", place / "submission" / "copy"):
        path.write_bytes(padded)
    assert "copy is the oracle" in said("smuggled")
    shutil.copy(place / "prebuilt", place / "submission" / "executable")
    assert "1.00 of the executable" in said("similarity")
    assert "the code is" in said("similarity")
    assert said("cases").split()
    assert json.loads((place / "metrics.json").read_bytes())["failed"] == CASES
