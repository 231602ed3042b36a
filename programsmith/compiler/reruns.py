"""Which blocks rerun when one thing changes, from the plan alone: the rows of docs/reruns.md.

In: the plan, the name of a change: a spec field as docs/spec.md writes it, `rules/NAME`, or one of OTHERS. Out: three
sets of blocks, each in the plan's order. A test asks the engine about every row, so none of them is an opinion.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from programsmith.compiler.plan import ATTACKS, EVERY, STEPS, TRIED, Step, asked_rules, attacked

RULES = "rules/"
LISTS_HOST = "rules/toolchains"
ENTRIES: Mapping[str, str] = MappingProxyType(
    {"rollouts": "rollouts", "ceiling": "rollouts", "sweep": "sweep", "probe.model": ATTACKS}
)
"""Fields that hold entries of who tries, and the basis that their trials are of."""
SHOWN, PRICE = ("folder", "probe.model.command"), "usd"
"""Fields of an entry by which no trial has another name; the price is no cause of one at all."""
ASKS = ("difficulty.basis", "difficulty.trials_max", "rules/batches")
"""What decides how many trials each basis asks for, beside its entries."""
STAMPS = frozenset({"r/static.ok"})
"""Artifacts whose bytes tell of their inputs alone, so that a rerun of their writer is no cause."""


def _is(block: str) -> Callable[[Step], bool]:
    return lambda step: step.block == block


OTHERS: Mapping[str, Callable[[Step], bool]] = MappingProxyType(
    {
        "the host, as `host` of rules/toolchains.yaml lists it": lambda step: "init" in step.payload,
        "the owner's secret, where `seal` is `owner`": lambda step: "seal" in step.spec,
        "content of `source.path` or `source.archive`": lambda step: bool(step.outside),
        "content of a folder that an entry shows its agent": lambda step: step.per_trial,
        **{
            f"answers for {step.block} of a replay that `models` names": _is(step.block) for step in STEPS if step.model
        },
    }
)
"""Causes that are neither a field nor a rule."""

NOTES: Mapping[str, str] = MappingProxyType(
    {
        "version": "there is one",
        "name": "another name is another spec; what it can, it takes from the store",
        "extends": "what counts is the fields that come of it",
        "budget.usd": "bounds what may be spent; what was bought stays",
        "revisions.max": "how far the next revision may go; none that was made is lost",
        "ceiling.usd": "a bound of what may be spent; what was bought stays",
        "rollouts[].trials": "of trials those that are added",
        "ceiling.trials": "of trials those that are added",
        "sweep.trials": "of trials those that are added",
        "sweep[].trials": "of trials those that are added",
        "probe.model.usd": "a bound of what may be spent; what was bought stays",
        "probe.model.trials": "of trials those that are added",
        "rules/prompts/adversary.md": "of trials the tries of `probe.model`",
        "difficulty[].trials_max": "of trials those that are added",
        "rules/bars": "what benchmarks are held to",
        "rules/batches": "of trials those that are asked for anew",
        "rules/toolchains": "those that do not read it only where `host` of it changes",
        "rules/retries": "how often infra is tried again is no cause",
        **dict.fromkeys(
            ("rules/agents", "rules/failures", "rules/gateway", "rules/models"),
            "of trials; one is bought anew where another version of its harness is named",
        ),
        "rules/routes": "and the way goes on as they say",
        **{RULES + name: "where a model decides it" for step in STEPS for name in asked_rules(step)},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reruns:
    """`at_once`: in their slice the change stands. `answers`: they follow where a record says something else.

    `artifacts`: they follow where artifacts have other bytes too, or another revision is asked for. Each block is in
    the first set that it belongs to.
    """

    at_once: tuple[str, ...]
    answers: tuple[str, ...]
    artifacts: tuple[str, ...]


def reruns(steps: Sequence[Step], change: str) -> Reruns:
    """What reruns when `change` changes, of a spec that names an adversary of its own."""
    steps = [attacked(step) if step.attacks else step for step in steps]
    first = {step.block for step in steps if _names(step, change)} | set(_asked(steps, change))
    second = _closed(steps, first, artifacts=False)
    third = _closed(steps, first, artifacts=True)

    def ordered(blocks: Collection[str]) -> tuple[str, ...]:
        return tuple(step.block for step in steps if step.block in blocks)

    return Reruns(at_once=ordered(first), answers=ordered(second - first), artifacts=ordered(third - second - first))


def _names(step: Step, change: str) -> bool:
    """Whether the change is one of the causes that the step's row declares."""
    if change in OTHERS:
        return OTHERS[change](step)
    if change.startswith(RULES):
        return change.removeprefix(RULES) in (*step.rules, *step.attack_rules, *asked_rules(step)) or (
            change == LISTS_HOST and "init" in step.payload
        )
    return any(_below(path, change) for path in step.spec)


def _below(path: str, change: str) -> bool:
    """Whether the field `change` is `path` or a part of it."""
    return f"{change.replace('[]', '')}.".startswith(f"{path}.")


def _asked(steps: Sequence[Step], change: str) -> Iterator[str]:
    """Blocks of trials of which others are asked for, or whose entry differs."""
    asks = any(_below(name, change) for name in ASKS)
    basis = next((basis for entries, basis in ENTRIES.items() if _below(entries, change)), None)
    leaf = change.rpartition(".")[2]
    if (not asks and basis is None) or leaf == PRICE:
        return
    per_trial = {step.block for step in steps if step.per_trial}
    for step in steps:
        judges = per_trial & set(step.records)
        others = step.basis == basis or (asks and step.basis in TRIED)
        if step.per_trial or (judges and others and not {leaf, change} & set(SHOWN)):
            yield step.block


def _hears(step: Step, steps: Sequence[Step], changed: Collection[str]) -> bool:
    """Whether the step gets the record of a block in `changed`."""
    if step.records != EVERY:
        return bool(set(step.records) & set(changed))
    before = steps[: [s.block for s in steps].index(step.block)]
    return any(s.block in changed for s in before if not s.per_trial and not s.revises)


def _made(steps: Sequence[Step], changed: Collection[str]) -> set[str]:
    """Artifacts that blocks in `changed` write, as the next reader calls them."""
    written = {name.replace("next/", "r/", 1) for s in steps if s.block in changed for name in s.writes}
    return written - STAMPS


def _closed(steps: Sequence[Step], first: Collection[str], *, artifacts: bool) -> set[str]:
    """`first` and all that follow them, over and over."""
    changed = set(first)
    while True:
        made = _made(steps, changed) if artifacts else set()
        hear = {s.block for s in steps if _hears(s, steps, changed) and (artifacts or not s.revises)}
        more = {s.block for s in steps if s.block in hear or made & set(s.reads)} - changed
        if not more:
            return changed
        changed |= more
