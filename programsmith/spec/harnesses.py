"""Harnesses and models of a spec against the rules: each model has a price, speaks what its harness speaks, fits in.

In: a Spec, the project's root. Refuses the first fault in one line (InputError). `speaks` says by which protocol a
harness asks a model; a pair of a cross product that cannot talk is as wrong as one that is written out. A trial
reserves what it may spend, so a budget below that buys none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programsmith.rulebook.document import Keys, dotted
from programsmith.rulebook.fault import fault, quoted, suggest
from programsmith.rulebook.load import Rulebook
from programsmith.spec.checks import WITH_MODEL, pairs
from programsmith.spec.model import Spec


def check_harnesses(spec: Spec, project: Path) -> None:
    """All checks. Raises InputError."""
    asked = [(keys, agent, model) for keys, agent, model in _asked(spec.values) if agent in WITH_MODEL]
    if not asked:
        return
    book = Rulebook(project)
    models, rule = book.load("models"), book.load("agents")
    agents = rule["agents"]
    for keys, agent, model in asked:
        if model not in models["models"]:
            hint = suggest(model, list(models["models"]), "rules/models.yaml has")
            raise fault(spec.place(*keys), dotted(keys), "a model with a price", quoted(model), hint)
        if speaks(agents[agent], models, model) is None:
            wanted = f"a model that speaks {' or '.join(agents[agent]['speaks'])}, as {quoted(agent)} does"
            raise fault(spec.place(*keys), dotted(keys), wanted, quoted(model))
    for keys, _, _ in asked:
        _check_budget(spec, keys, rule["usd"])


def _check_budget(spec: Spec, keys: Keys, default: float) -> None:
    """Refuse a budget that covers no trial of the pair whose model is at these keys; a band's basis buys none."""
    if keys[0] == "difficulty":
        return
    above = keys[:1] if keys[0] == "sweep" and isinstance(spec.values["sweep"], dict) else keys[:-1]
    entry: Any = spec.values
    for key in above:
        entry = entry[key]
    most, budget = entry["usd"], spec.values["budget"]["usd"]
    needs = default if most is None else most
    if budget is not None and budget < needs:
        says = "where it says no `usd`" if most is None else "by its `usd`"
        wanted = f"at least the {needs:g} that a trial of {dotted(above)} may spend {says}"
        raise fault(spec.place("budget", "usd"), "budget.usd", wanted, f"{budget:g}")


def speaks(agent: Mapping[str, Any], models: Mapping[str, Any], model: str) -> str | None:
    """The protocol by which a row of rules/agents.yaml asks a model of rules/models.yaml, if any."""
    served = models["providers"].get(model.partition("/")[0], {}).get("speaks", {})
    return next((protocol for protocol in agent["speaks"] if protocol in served), None)


def _asked(values: Mapping[str, Any]) -> Iterator[tuple[Keys, str, str]]:
    """Every pair of agent and model, with the keys that lead to the model."""
    yield from (((*keys, "model"), pair["agent"], pair["model"]) for keys, pair in pairs(values))
    sweep = values["sweep"]
    if not isinstance(sweep, dict):
        return
    left = [(pair["agent"], pair["model"]) for pair in sweep["except"]]
    for agent in sweep["agents"]:
        for i, model in enumerate(sweep["models"]):
            if (agent, model) not in left:
                yield ("sweep", "models", i), agent, model
