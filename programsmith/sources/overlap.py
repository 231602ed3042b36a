"""Which known benchmarks hold a repository. In: owner/name or names, the rule. Out: `benchmark: owner/name` lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def overlaps(owner: str | None, names: Iterable[str], rule: Mapping[str, Any]) -> tuple[str, ...]:
    """Benchmarks that hold `owner` (owner/name), or, where no owner is known, a repository of one of `names`."""
    wanted = {n.lower() for n in names}

    def same(repository: str) -> bool:
        return repository == owner if owner else repository.partition("/")[2] in wanted

    return tuple(f"{b}: {r}" for b, held in rule["benchmarks"].items() for r in held if same(r))


def namesakes(owner: str | None, rule: Mapping[str, Any]) -> tuple[str, ...]:
    """Benchmark repositories of the same name under another owner: perhaps the same program, for a person to judge."""
    if not owner:
        return ()
    name = owner.partition("/")[2]
    return tuple(
        f"{b}: {r}"
        for b, held in rule["benchmarks"].items()
        for r in held
        if r != owner and r.partition("/")[2] == name
    )
