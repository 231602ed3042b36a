"""`plan`: what a build would run, and why; how many trials it would buy, at most how many dollars and how long.

In: specs. Out: per spec the tasks that would run in the order of the passes, what else may follow from words that are
not known yet, an estimate. A broken spec is one with an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from programsmith.compiler.asking import deciding
from programsmith.compiler.build import default_workers
from programsmith.compiler.compile import Compiler
from programsmith.compiler.estimate import Estimate, estimate
from programsmith.compiler.loader import Asked
from programsmith.compiler.outlook import Kept, Outlook, Prospect
from programsmith.compiler.verbs.reading import Answer, looks, short
from programsmith.records.outcome import Word
from programsmith.verdict.routes import Go

WORDS = ("spec",)
TASKS = False
THEN = {
    Go.CONTINUE: "going on in the same revision",
    Go.MORE: "another batch of trials",
    Go.SYNTHESIZE: "another revision",
    Go.END: "an early end of the spec",
}
REASONS = 2  # that a line lists
NOTE = "A task whose only reason is another task's result runs only if that comes out different."


def answer(asked: Asked, names: Sequence[str], compiler: Compiler) -> Answer:
    """The plan of each spec. Raises InputError, InfraError."""
    del names
    plans = [(found, estimate(found, default_workers())) for found in looks(asked, compiler)]
    specs = [_spec(found, costs) for found, costs in plans]
    total = {
        "would_run": sum(task["status"] == WOULD_RUN for spec in specs for task in spec["tasks"]),
        "trials_bought_at_most": sum(costs.trials.at_most for _, costs in plans if costs),
        "usd_at_most": round(sum((costs.usd_at_most for _, costs in plans if costs), 0.0), 6),
    }
    lines = [line for found, costs in plans for line in _lines(found, costs)]
    if any(p.would_run and not p.certain for found, _ in plans for p in found.prospects):
        lines.append(NOTE)
    return Answer(value={"total": total, "specs": specs}, text="\n".join(lines))


UP_TO_DATE, WOULD_RUN = "up_to_date", "would_run"


def _spec(found: Outlook, costs: Estimate | None) -> dict[str, Any]:
    return {
        "name": found.name,
        "error": None if found.fault is None else str(found.fault),
        "tasks": [_task(p) for p in found.prospects],
        "open": [
            {"task": p.name, "expected": p.record.outcome.value, "may_say": [w.value for w in words], "then": THEN[go]}
            for p in found.prospects
            for go, words in _others(p)
        ],
        **_costs(costs),
    }


def _costs(costs: Estimate | None) -> dict[str, Any]:
    if costs is None:
        return {"trials": None, "usd": None, "seconds": None}
    trials = costs.trials
    return {
        "trials": {"reused": trials.reused, "bought": trials.bought, "bought_at_most": trials.at_most},
        "usd": {
            "at_most": round(costs.usd_at_most, 6),
            "models": {block: round(usd, 6) for block, usd in costs.models.items()},
            "budget": costs.budget,
            "spent": costs.spent,
            "held": costs.held,
        },
        "seconds": {"trials_at_most": costs.trials_seconds_at_most, "blocks_last": costs.blocks_seconds_last},
    }


def _task(p: Prospect) -> dict[str, Any]:
    return {
        "task": p.name,
        "status": WOULD_RUN if p.would_run else UP_TO_DATE,
        "certain": p.certain or not p.would_run,
        "from_store": p.kept is not Kept.NO,
        "because": [cause.text for cause in p.causes],
        "depends_on": list(p.depends_on),
        "seconds": p.known.seconds if p.known else None,
    }


def _others(p: Prospect) -> list[tuple[Go, list[Word]]]:
    """What else the task may say, by where that leads."""
    if not p.undecided:
        return []
    route, block = p.turn.subject.route, p.turn.step.block
    expected = route(block, p.record.outcome)
    ways: dict[Go, list[Word]] = {}
    for word in p.turn.step.says:
        if word is not p.record.outcome:
            ways.setdefault(route(block, word), []).append(word)
    return [(go, words) for go, words in ways.items() if go is not expected or go is not Go.CONTINUE]


def _lines(found: Outlook, costs: Estimate | None) -> Iterator[str]:
    if found.fault is not None:
        yield f"{found.name}: error: {found.fault}"
        return
    yield f"{found.name}: {_head(found, costs)}"
    due = [p for p in found.prospects if p.would_run]
    for _, same in groupby(due, key=_kind):
        yield _line(list(same))
    for go in Go:
        deciding = [short(p.name) for p in due for way, _ in _others(p) if way is go]
        if deciding:
            yield f"  {THEN[go]} depends on {', '.join(deciding)}"


def _kind(p: Prospect) -> tuple[Any, ...]:
    """Trials of one batch, and their grades, are told together where they have the same reason."""
    if not p.turn.step.per_trial:
        return (p.name,)
    own = [cause.text.replace(p.turn.spot.trial.name, "") for cause in p.causes] if p.turn.spot.trial else []
    return p.turn.step.block, p.turn.spot.revision, p.turn.spot.batch, p.kept, *own


def _line(same: Sequence[Prospect]) -> str:
    p = same[0]
    name = short(p.name)
    if len(same) > 1 and p.turn.spot.trial:
        name = f"{name.removesuffix(p.turn.spot.trial.name)}* ({len(same)} tasks)"
    texts = [cause.text for cause in p.causes]
    more = f" and {len(texts) - REASONS} more reasons" if len(texts) > REASONS + 1 else ""
    shown = "; ".join(texts if len(texts) == REASONS + 1 else texts[:REASONS])
    store = {Kept.NO: "", Kept.LIKELY: ", likely from the store", Kept.SURE: ", from the store"}[p.kept]
    waits = f" [depends on {', '.join(map(short, p.depends_on))}]" if p.depends_on else ""
    return f"  {name} would run{store}: {shown}{more}{waits}"


def _head(found: Outlook, costs: Estimate | None) -> str:
    due = sum(p.would_run for p in found.prospects)
    if costs is None or not due:
        return f"up to date, {len(found.prospects)} tasks"
    sure = sum(p.certain for p in found.prospects)
    parts = [f"{sure} of {len(found.prospects)} tasks would run"]
    if due > sure:
        parts[0] += f", {due - sure} more if what they read comes out different"
    if costs.blocks_seconds_last:
        parts.append(f"blocks took {costs.blocks_seconds_last:.0f} s when they last ran")
    trials = costs.trials
    if trials.reused or trials.at_most:
        most = f"at most {trials.at_most}" + (f" ({_hours(costs.trials_seconds_at_most)})" if trials.at_most else "")
        parts.append(f"trials: {trials.reused} reused, {trials.bought} bought, {most}")
    asked = deciding(costs)
    if trials.reused or trials.at_most or asked:
        budget = "" if costs.budget is None else f" of budget.usd {costs.budget:g}, {costs.spent:g} spent"
        held = f", {costs.held:g} held" if costs.held else ""
        parts.append(f"at most {costs.usd_at_most:.2f} usd{budget}{held}{asked}")
    return "; ".join(parts)


def _hours(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
