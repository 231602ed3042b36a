"""How strong a choice of held-out cases is: set arithmetic over what each case kills and executes. Launches nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

from programsmith.records.golden import Kills, Mutant

SHOWN = 20  # survivors that evidence shows with their diff


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """Shares in 0..1; `interval` is Wilson's around the score; `public_kill_ratio` is None where nothing is killed.

    `null_scores` maps a program without sense to the share of held-out cases that it passes.
    """

    mutation_score: float
    interval: tuple[float, float]
    mutants: int
    killed: int
    pool_coverage: float
    scope_coverage: float
    public_kill_ratio: float | None
    null_scores: Mapping[str, float]
    survivors: tuple[Mutant, ...]


def strength(
    kills: Kills,
    held_out: Collection[str],
    public: Collection[str],
    null_scores: Mapping[str, float],
    confidence: float,
) -> Strength:
    """The strength of `held_out`. A mutant on a line that none of its cases executes is alive."""
    executed, shown = _lines(kills, held_out), _lines(kills, public)
    hidden, seen = set(held_out), set(public)
    killed = [m for m in kills.mutants if _line(m) in executed and not hidden.isdisjoint(m.killers)]
    found = [m for m in killed if _line(m) in shown or not seen.isdisjoint(m.killers)]
    drawn = len(kills.mutants)
    return Strength(
        mutation_score=_share(len(killed), drawn),
        interval=wilson(len(killed), drawn, confidence),
        mutants=drawn,
        killed=len(killed),
        pool_coverage=_share(len(executed), len(_lines(kills, kills.lines))),
        scope_coverage=_share(len(executed), kills.scope_lines),
        public_kill_ratio=_share(len(found), len(killed)) if killed else None,
        null_scores=dict(sorted(null_scores.items())),
        survivors=tuple(m for m in kills.mutants if m not in killed),
    )


def wilson(k: int, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's score interval of `k` successes in `n` (E. B. Wilson 1927); the whole of 0..1 where n is 0."""
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(k * (n - k) / n + z * z / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def shortfalls(found: Strength, rule: Mapping[str, Any]) -> list[str]:
    """What falls short of rules/acceptance.yaml, one line each: the value, the threshold and its name."""
    return list(short_of(found, rule).values())


def short_of(found: Strength, rule: Mapping[str, Any]) -> dict[str, str]:
    """The same by name: a threshold, or a null program."""
    low, high = found.interval
    score = f"{found.mutation_score:.2f} [{low:.2f}, {high:.2f}] of {found.mutants} mutants"
    least: tuple[tuple[str, float | None, str], ...] = (
        ("mutants_min", found.mutants, f"{found.mutants} mutants"),
        ("mutation_score", found.mutation_score, f"mutation score {score}"),
        ("pool_coverage", found.pool_coverage, f"pool coverage {found.pool_coverage:.2f}"),
        ("scope_coverage", found.scope_coverage, f"scope coverage {found.scope_coverage:.2f}"),
        ("public_kill_ratio", found.public_kill_ratio, f"public kill ratio {found.public_kill_ratio or 0:.2f}"),
    )
    short = {name: f"{text}, wanted {rule[name]} ({name})" for name, value, text in least if (value or 0) < rule[name]}
    most = rule["nulls_max"]
    nulls = ((name, share) for name, share in found.null_scores.items() if share > most)
    return short | {
        name: f"null program {name} passes {share:.3f}, wanted at most {most} (nulls_max)" for name, share in nulls
    }


def evidence(found: Strength) -> dict[str, Any]:
    """The JSON form: the figures, and the first survivors with their diffs.

    `alive_uncompared` are survivors that show only in what is not compared: alive all the same, since another case
    might show them where it counts.
    """
    return {
        "mutation_score": round(found.mutation_score, 4),
        "interval": [round(end, 4) for end in found.interval],
        "mutants": found.mutants,
        "killed": found.killed,
        "alive_uncompared": sum(m.uncompared for m in found.survivors),
        "pool_coverage": round(found.pool_coverage, 4),
        "scope_coverage": round(found.scope_coverage, 4),
        "public_kill_ratio": None if found.public_kill_ratio is None else round(found.public_kill_ratio, 4),
        "null_scores": {name: round(share, 4) for name, share in found.null_scores.items()},
        "survivors": [
            {"path": m.path, "line": m.line, "operator": m.operator, "diff": m.diff} for m in found.survivors[:SHOWN]
        ],
    }


def _lines(kills: Kills, ids: Iterable[str]) -> set[str]:
    return {kills.line_table[i] for case in ids for i in kills.lines.get(case, ())}


def _line(mutant: Mutant) -> str:
    return f"{mutant.path}:{mutant.line}"


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
