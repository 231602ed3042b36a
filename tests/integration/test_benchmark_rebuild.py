"""The benchmark of rebuilding measures builds that come to what they must, and counts what was bought."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def rebuild(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import rebuild as module

    yield module
    for name in ("bars", "rebuild"):
        sys.modules.pop(name, None)


@pytest.fixture
def example(rebuild: Any, tmp_path: Path) -> Any:
    """A spec whose source ingest rejects, for it has no licence."""
    (tmp_path / "specs" / "hello").mkdir(parents=True)
    (tmp_path / "specs" / "hello" / "hello.py").write_text("print(1)\n")
    (tmp_path / "specs" / "hello.yaml").write_text("version: 1\nname: hello\nsource: {path: specs/hello}\n")
    return rebuild.Example(root=tmp_path, name="hello", outcome="reject", revisions=1)


def test_a_build_from_the_store_is_told_from_one_from_nothing(rebuild: Any, example: Any) -> None:
    found = rebuild.measure(example)
    assert (found.bought_again, found.restored) == (0, 2)
    answer = rebuild.Answer("rebuild", quick=True)
    rebuild.report([found, replace(found, bought_again=1)], answer)
    assert answer.figures["bought_again"] == 1
    assert answer.verdicts()["bought_again"] is False
    assert {"cold_seconds", "rebuild_seconds", "null_seconds", "network"} <= set(answer.figures)


@pytest.mark.parametrize("wanted", [{"outcome": "ship"}, {"revisions": 2}])
def test_an_example_that_does_not_come_to_what_it_must_ends_the_benchmark(
    rebuild: Any, example: Any, wanted: dict[str, Any]
) -> None:
    with pytest.raises(RuntimeError, match="got reject in 1 "):
        rebuild.measure(replace(example, **wanted))
