"""What a spec may say that the engine does not run: one row per field.

RUNS holds the values that blocks run, REFUSED a value that none runs, AGENTS the agents that trials start.
In: a Spec. Refuses, in one line, the first field that asks for more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from programsmith.rulebook.document import Keys, dotted
from programsmith.rulebook.fault import fault, quoted
from programsmith.rulebook.schema import got
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
REFUSED: tuple[tuple[str, Any, str], ...] = (("task.target_languages", "any", "a list of languages"),)
HINT = "this version has no block that runs it"
AGENTS = ("nop", "oracle", "scripted", "command")
"""Agents that trials start."""


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
            wanted = f"one of {', '.join(map(quoted, AGENTS))}"
            raise fault(spec.place(*keys), dotted(keys), wanted, quoted(agent), "this version starts no other")


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
