"""What a spec may say that the engine does not run: one row per field.

RUNS holds the values that blocks run, REFUSED a value that none runs, AGENTS the agents that trials start.
In: a Spec. Refuses, in one line, the first field that asks for more. Also the schema in whose words other faults are
told, so that none offers what would be refused next.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.rulebook.document import Keys, dotted
from programsmith.rulebook.fault import fault, quoted
from programsmith.rulebook.schema import OFFERED, Schema, got
from programsmith.spec.checks import pairs
from programsmith.spec.model import Spec

RUNS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("probe.model", (None,)),
    ("models.matrix", (None,)),
    ("models.pick", (None,)),
    ("models.goldens", (None,)),
    ("models.create", (None,)),
    ("models.judge", (None,)),
    ("models.synthesize", (None,)),
    ("goldens.expand", ("none",)),
    ("task.oracle_access", ("none",)),
    ("runner", ("local",)),
    ("executor", ("local",)),
)
REFUSED: tuple[tuple[str, Any, str], ...] = (
    ("task.target_languages", "any", "a list of languages, such as `[python]`"),
)
HINT = "this version has no block that runs it"
AGENTS = ("nop", "oracle", "scripted", "command")
"""Agents that trials start."""
ONE_OF = f"one of {', '.join(map(quoted, AGENTS))}"


def check_available(spec: Spec) -> None:
    """Refuse a field whose value no block runs. Raises InputError."""
    for field, runs in RUNS:
        value = _value(spec, field)
        if value not in runs:
            place = spec.place(*field.split("."))
            wanted = " or ".join(said(v) for v in runs)
            raise fault(place, field, wanted, got(value, place), f"{HINT}; leave the field out")
    for field, refused, wanted in REFUSED:
        if _value(spec, field) == refused:
            raise fault(spec.place(*field.split(".")), field, wanted, said(refused), HINT)
    for keys, agent in _agents(spec.values):
        if agent not in AGENTS:
            raise fault(spec.place(*keys), dotted(keys), ONE_OF, quoted(agent), "this version starts no other")


def offering(schema: Schema) -> Schema:
    """The schema of specs whose titles name what is run alone. It allows the same."""
    made = copy.deepcopy(dict(schema))
    for field, runs in RUNS:
        _field(made, field)["title"] = " or ".join(map(said, runs))
    for field, _, wanted in REFUSED:
        _field(made, field)["title"] = wanted
    _name_agents(made)
    return made


def _field(schema: dict[str, Any], field: str) -> dict[str, Any]:
    for key in field.split("."):
        schema = schema["properties"][key]
    return schema


def _name_agents(schema: Any) -> None:
    """Title every choice of agents."""
    if isinstance(schema, dict) and set(AGENTS) < set(schema.get("enum", ())):
        schema |= {"title": ONE_OF, OFFERED: AGENTS}
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _name_agents(inner)


def _agents(values: Mapping[str, Any]) -> Iterator[tuple[Keys, str]]:
    yield from (((*keys, "agent"), pair["agent"]) for keys, pair in pairs(values))
    if isinstance(values["sweep"], dict):
        yield from ((("sweep", "agents", i), agent) for i, agent in enumerate(values["sweep"]["agents"]))


def _value(spec: Spec, field: str) -> Any:
    value: Any = spec.values
    for key in field.split("."):
        value = value[key]
    return value


def said(value: Any) -> str:
    """A value in words."""
    match value:
        case None | []:
            return "none"
        case _:
            return f"`{value}`"
