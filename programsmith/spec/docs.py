"""docs/spec.md from the schema: one row per field, in the schema's order.

In: the schema of specs. Out: Markdown. Nothing of it is written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from programsmith.rulebook.schema import Schema, wanted
from programsmith.spec.unavailable import REFUSED, RUNS, said

HEAD = """\
# The spec

One YAML file per environment, `specs/<name>.yaml`. This page is generated from `rules/schema/spec.json`.
A field that is left out holds its default; a key that is not listed is refused. `[]` marks the items of a list.
What the format has and no block of this version runs is marked: it is read, and refused by its line.

| field | wanted | default | what it says |
|---|---|---|---|
"""
TAIL = """
## What no block runs

These fields may hold these values only; anything else is refused by its line.

"""


def spec_page(schema: Schema) -> str:
    """The page that documents every field of `schema`."""
    return HEAD + "".join(_row(*row) for row in _rows(schema, "")) + TAIL + "".join(_limits())


def fields(schema: Schema) -> Iterator[str]:
    """Every field of the page that holds a value of its own, not just other fields."""
    rows = [(name, field) for name, field, _ in _rows(schema, "")]
    for name, field in rows:
        whole = not any(other.startswith((f"{name}.", f"{name}[].")) for other, _ in rows)
        if whole or any(branch.get("type") == "string" for branch in field.get("anyOf", ())):
            yield name


def _limits() -> Iterator[str]:
    for field, runs in RUNS:
        yield f"- `{field}`: {' or '.join(said(v) for v in runs)}\n"
    for field, refused, _ in REFUSED:
        yield f"- `{field}`: anything but {said(refused)}\n"


def _rows(schema: Schema, prefix: str) -> Iterator[tuple[str, Schema, str]]:
    for name, field in schema.get("properties", {}).items():
        yield prefix + name, field, "required" if name in schema.get("required", ()) else _default(field)
        for branch in (field, *field.get("anyOf", ())):
            yield from _rows(branch, f"{prefix}{name}.")
            yield from _items(branch.get("items", {}), f"{prefix}{name}[].")


def _items(schema: Schema, prefix: str) -> Iterator[tuple[str, Schema, str]]:
    for branch in (schema, *schema.get("anyOf", ())):
        yield from _rows(branch, prefix)


def _row(name: str, field: Schema, default: str) -> str:
    cells = (f"`{name}`", wanted(field) + _alone(name), default, field["description"])
    return f"| {' | '.join(c.replace('|', chr(92) + '|') for c in cells)} |\n"


def _alone(name: str) -> str:
    """What of a field's values is run, where that is not all of them."""
    for row, runs in RUNS:
        if row == name:
            return f"; {' or '.join(map(said, runs))} alone is run"
    return "".join(f"; {said(refused)} is not run" for row, refused, _ in REFUSED if row == name)


def _default(field: Schema) -> str:
    if "default" not in field:
        return "none"
    value: Any = field["default"]
    match value:
        case None:
            return "none"
        case {}:
            return "its fields' defaults" if "properties" in field else "`{}`"
        case _:
            return f"`{json.dumps(value)}`"
