"""What a build asks before it begins: whether so many specs are meant, and whether money may be spent.

In: specs in which something is to be done. Out: nothing, where somebody says yes. Refuses (InputError) where the answer
is no, or nobody can answer and `--yes` was not said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from programsmith.compiler.compile import Compiler
from programsmith.compiler.estimate import Estimate, estimate, may_cost
from programsmith.compiler.outlook import outlook
from programsmith.compiler.paths import Project
from programsmith.errors import InputError

MANY = 3
YES = frozenset({"y", "yes"})


def ask(compiler: Compiler, project: Project, due: Sequence[Path], workers: int, *, named: bool) -> None:
    """Ask what there is to ask of the specs that would be built; more than MANY that nobody named are a question."""
    questions, hints = [], []
    names = [path.stem for path in due]
    if not named and len(names) > MANY:
        questions.append(f"{len(names)} specs would be built: {', '.join(names)}")
        hints.append("name those that you want: spec=NAME,NAME")
    for name, costs in _costs(compiler, project, due, workers):
        questions.append(said(name, costs))
        hints.append(f"look first: programsmith plan spec={name}")
    if questions:
        _confirm("; ".join(questions), "or " + ", or ".join(hints))


def said(name: str, costs: Estimate) -> str:
    """What a build may cost, for a person."""
    spent = f", of which {costs.spent:g} are spent" if costs.spent else ""
    held = f" and {costs.held:g} held" if costs.held else ""
    most = f"{costs.trials.at_most} trials are bought at most{deciding(costs)}"
    return f"{name} may spend up to {costs.usd_at_most:.2f} usd: {most}, budget.usd is {costs.budget:g}{spent}{held}"


def deciding(costs: Estimate) -> str:
    """What models that decide blocks may take, for a person; empty where none may."""
    asked = ", ".join(f"{block} {usd:.2f}" for block, usd in costs.models.items() if usd)
    return f", models that decide blocks take {sum(costs.models.values()):.2f} usd at most ({asked})" if asked else ""


def _costs(compiler: Compiler, project: Project, due: Sequence[Path], workers: int) -> Iterator[tuple[str, Estimate]]:
    """The specs that may spend. A broken one spends nothing; its build says what is wrong with it."""
    for path in due:
        try:
            subject = compiler.subject(project, path)
        except InputError:
            continue
        if may_cost(subject, compiler.steps):
            costs = estimate(outlook(compiler, project, path), workers)
            if costs is not None and costs.usd_at_most > 0:
                yield path.stem, costs


def _confirm(what: str, otherwise: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(f"{what}; add --yes, {otherwise}")
    print(f"{what}. Build? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in YES:
        raise InputError(f"nothing was built; build with --yes, {otherwise}")
