"""The example's solvers: what a seed decides, and that each slip is one line of a program that is right without it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

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
    programs = {solver.program(seed, {}) for seed in range(6)}
    assert len(programs) == 6
    assert [seed for seed in range(6) if not solver.slips(seed)] == [1]


def test_a_seed_means_the_same_program_always(solver: ModuleType) -> None:
    assert solver.program(4, {"--help": ["x"]}) == solver.program(4, {"--help": ["x"]})


def test_every_misreading_is_a_line_of_the_program_and_makes_another_one(solver: ModuleType) -> None:
    source = (SOLVERS / "attempt" / "main.py").read_text()
    for name, (right, wrong) in solver.MISREADINGS.items():
        assert source.count(right) == 1, name
        compile(source.replace(right, wrong), name, "exec")
        assert any(name in solver.slips(seed) for seed in range(12)), name
