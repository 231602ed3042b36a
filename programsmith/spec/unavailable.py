"""What a spec may say that the engine does not run: one row per field, with the values that it does run.

In: a Spec. Refuses, in one line, the first field that asks for more. A row is deleted when its block arrives.
"""

from __future__ import annotations

from typing import Any

from programsmith.rulebook.fault import fault
from programsmith.rulebook.schema import got
from programsmith.spec.model import Spec

RUNS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("rollouts", ([],)),
    ("ceiling", (None,)),
    ("sweep", (None,)),
    ("difficulty", ([],)),
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


def check_available(spec: Spec) -> None:
    """Refuse a field whose value no block runs. Raises InputError."""
    for field, runs in RUNS:
        keys = tuple(field.split("."))
        value: Any = spec.values
        for key in keys:
            value = value[key]
        if value not in runs:
            place = spec.place(*keys)
            hint = "this version has no block that runs it; leave the field out"
            raise fault(place, field, " or ".join(said(v) for v in runs), got(value, place), hint)


def said(value: Any) -> str:
    """A value in words."""
    match value:
        case None | []:
            return "none"
        case _:
            return f"`{value}`"
