"""What the models that decide blocks may cost at most, before anybody asked.

In: a spec, its steps, what a build would do. Out: dollars by block. A run of a block costs at most what rules/asks.yaml
lets it ask; how often a block may run is how many revisions and batches there may be. What the store has costs nothing,
but nobody knows before the question is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from programsmith.compiler.passes import assigned, wanted
from programsmith.compiler.plan import Step, asking, model_of
from programsmith.compiler.turn import Subject
from programsmith.models.ask import answer_rule, prompt_rule
from programsmith.models.request import size, system

GATEWAY = ("models", "gateway")
"""Rules by which a gateway reckons."""


def asked_usd(subject: Subject, steps: Sequence[Step], running: Iterable[str], last: int) -> dict[str, float]:
    """Dollars at most of each block that a model decides. `running` are blocks that would run now.

    A block of revisions may run in each up to the `last`, whatever runs now, as long as anything does.
    """
    due = set(running)
    again = {step.block for step in steps if step.revises or step.basis}
    return {
        block: float(usd * _times(subject, step, last))
        for step, block, usd in _runs(subject, steps)
        if block in due or (due and block in again)
    }


def may_ask(subject: Subject, steps: Sequence[Step]) -> bool:
    """Whether any model that decides a block costs money."""
    return any(usd for _, _, usd in _runs(subject, steps))


def _runs(subject: Subject, steps: Sequence[Step]) -> Iterator[tuple[Step, str, Decimal]]:
    """Steps that a model decides, and what one run of each takes at most. Raises InputError."""
    for step in steps:
        model = model_of(step, subject.values)
        if model is None or not wanted(subject, step):
            continue
        from programsmith.models.price import run_usd  # specs without models do without

        load = subject.rules.load
        told = size(system(load(prompt_rule(step.block)), load(answer_rule(step.block))))
        rules = {name: load(name) for name in GATEWAY}
        yield asking(step, subject.values), step.block, run_usd(rules, load("asks"), step.block, model, told)


def _times(subject: Subject, step: Step, last: int) -> int:
    """How often the block may run."""
    if step.revises:
        return last
    if not step.basis:
        return 1
    batches = 0
    while assigned(subject, step.basis, batches):
        batches += 1
    return max(1, batches) * (last + 1)
