"""What a spec may say that the engine does not run: one row per field.

RUNS holds the values that blocks run, REFUSED a value that none runs, TARGETS the languages of tasks.
In: a Spec. Refuses, in one line, the first field that asks for more. Also the schema in whose words other faults are
told, so that none offers what would be refused next.
"""

from __future__ import annotations

import copy
from typing import Any

from programsmith.rulebook.document import dotted
from programsmith.rulebook.fault import fault, quoted
from programsmith.rulebook.schema import Schema, got
from programsmith.spec.model import Spec

RUNS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("runner", ("local",)),
    ("executor", ("local",)),
)
REFUSED: tuple[tuple[str, Any, str], ...] = (
    ("task.target_languages", "any", "a list of languages, such as `[python]`"),
)
TARGETS = ("c", "cpp", "go", "java", "javascript", "python", "rust")
"""Languages that a task can be in."""
HINT = "this version has no block that runs it"


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
    _check_targets(spec)


def _check_targets(spec: Spec) -> None:
    """Refuse a language with a toolchain that no task can be in."""
    asked = spec.values["task"]["target_languages"]
    for number, language in enumerate(asked if isinstance(asked, list) else ()):
        if language not in TARGETS:
            keys = ("task", "target_languages", number)
            hint = "this version has no programs in it to try a task with"
            wanted = f"one of {', '.join(map(quoted, TARGETS))}"
            raise fault(spec.place(*keys), dotted(keys), wanted, quoted(language), hint)


def offering(schema: Schema) -> Schema:
    """The schema of specs whose titles name what is run alone. It allows the same."""
    made = copy.deepcopy(dict(schema))
    for field, runs in RUNS:
        _field(made, field)["title"] = " or ".join(map(said, runs))
    for field, _, wanted in REFUSED:
        _field(made, field)["title"] = wanted
    return made


def _field(schema: dict[str, Any], field: str) -> dict[str, Any]:
    for key in field.split("."):
        schema = schema["properties"][key]
    return schema


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
