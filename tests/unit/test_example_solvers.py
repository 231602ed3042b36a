"""The example's solvers: what a seed decides, and that each slip is one line of a program that is right without it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from programsmith.records.trial import Pair
from programsmith.spec.load import load_spec
from programsmith.verdict.bands import demands
from programsmith.verdict.calibration import Tally, read

SOLVERS = Path(__file__).parents[2] / "specs" / "tally-solvers"


@pytest.fixture(scope="module")
def solver() -> Iterator[ModuleType]:
    known, written = set(sys.modules), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(SOLVERS))
    try:
        spec = importlib.util.spec_from_file_location("solver", SOLVERS / "solver.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(SOLVERS))
        sys.dont_write_bytecode = written
        for name in set(sys.modules) - known:
            del sys.modules[name]


def test_the_first_six_seeds_give_six_programs_and_one_without_a_slip(solver: ModuleType) -> None:
    programs = {solver.program(solver.slips(seed), {}) for seed in range(6)}
    assert len(programs) == 6
    assert [seed for seed in range(6) if not solver.slips(seed)] == [1]


def test_every_misreading_is_in_the_program_once_and_makes_another_one(solver: ModuleType) -> None:
    source = (SOLVERS / "attempt" / "main.py").read_text()
    for name, (right, wrong) in solver.MISREADINGS.items():
        assert source.count(right) == 1, name
        compile(source.replace(right, wrong), name, "exec")
        assert any(name in solver.slips(seed) for seed in range(12)), name


def test_a_slip_that_two_public_cases_show_is_mended_and_one_that_one_shows_is_not(solver: ModuleType) -> None:
    name = "shares are cut off"
    cases = [
        count(b"k\na\nb\nb\n", b"k,count,percent\nb,2,66.7%\na,1,33.3%\n"),
        count(b"k\na\n", b"k,count,percent\na,1,100.0%\n"),
    ]
    assert solver.overlooked([name], {}, cases) == [name]
    assert solver.overlooked([name], {}, [*cases, cases[0]]) == []
    assert solver.overlooked([name, "open quotes"], {}, [*cases, cases[0]]) == ["open quotes"]


def count(stdin: bytes, stdout: bytes) -> dict[str, object]:
    """A public case of `tally count --column k --percent`, as solvers decode it."""
    return {"argv": ["count", "--column", "k", "--percent"], "stdin": stdin, "files": {}, "exit_code": 0,
            "stdout": stdout, "quiet": True, "after": {}}  # fmt: skip


def test_the_solvers_runner_sees_streams_exit_codes_and_files(solver: ModuleType) -> None:
    source = compile(solver.program([], {}), "main.py", "exec")
    right = count(b"k\na\n", b"k,count,percent\na,1,100.0%\n")
    assert solver.public.passes(source, right)
    for change in ({"stdout": b""}, {"exit_code": 2}, {"quiet": False}, {"after": {"x": b""}}):
        assert not solver.public.passes(source, {**right, **change})


@pytest.mark.parametrize(("passed", "standing"), [(6, "too_easy"), (1, "in_band"), (2, "in_band")])
def test_the_examples_band_is_decided_alike_at_nearby_confidences(passed: int, standing: str) -> None:
    root = SOLVERS.parents[1]
    (entry,) = load_spec(root / "specs" / "tally.yaml", root).values["difficulty"]
    assert "confidence: 0.75" in (root / "specs" / "tally.yaml").read_text()
    for confidence in (0.7, 0.75):
        (demand,) = demands([{**entry, "confidence": confidence}])
        tally = Tally(pair=Pair(agent="scripted", model="solver"), k=passed, n=6)
        assert read(tally, demand.band).standing == standing
