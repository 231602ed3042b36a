"""JSON Schema over a document: the first wrong value as one line, and defaults filled in.

In: a Document and a schema. Out: nothing or an InputError; a copy with every absent field that has a default.
A schema's `title` says in a few words what is wanted where its keywords alone would not.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from programsmith.errors import InputError
from programsmith.rulebook.document import Document, Keys, dotted
from programsmith.rulebook.fault import Place, fault, nearest, quoted

Schema = Mapping[str, Any]

KINDS: dict[str, str] = {
    "null": "nothing",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "a mapping",
}
TYPES: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
}
NUMBERS = frozenset({"integer", "number"})
VALUES = ("const", "enum", "pattern", "type")
MISSING = ("required", "dependentRequired", "minProperties")
BOUNDS = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "above {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "below {}"),
    ("minLength", "of at least {} characters"),
    ("maxLength", "of at most {} characters"),
    ("minItems", "of at least {}"),
    ("pattern", "matching {}"),
)


def check(document: Document, schema: Schema) -> None:
    """Refuse the first value, in the order of the lines, that the schema does not allow; then what is missing.

    Raises InputError.
    """
    found = [(wrong.keyword in MISSING, *_fault(document, schema, wrong)) for wrong in _wrongs(schema, document.values)]
    if found:
        raise min(found, key=lambda f: (f[0], f[1].line, str(f[2])))[2]


def filled(schema: Schema, values: Any) -> Any:
    """A copy of `values` in which every absent field holds its schema's default, at every depth."""
    branch = matching(schema, values)
    if isinstance(values, list):
        return [filled(branch.get("items", {}), v) for v in values]
    if not isinstance(values, dict):
        return values
    fields = branch.get("properties", {})
    other = branch.get("additionalProperties") or {}
    whole = {k: copy.deepcopy(f["default"]) for k, f in fields.items() if "default" in f}
    whole.update(values)
    return {k: filled(fields.get(k, other), v) for k, v in whole.items()}


def matching(schema: Schema, value: Any) -> Schema:
    """The branch of an `anyOf` whose type `value` has; the schema itself where there is no choice."""
    branches = [b for b in schema.get("anyOf", ()) if _is(b, value)]
    return matching(branches[0], value) if len(branches) == 1 else schema


def wanted(schema: Schema) -> str:
    """What a schema allows, in words."""
    if "title" in schema:
        return str(schema["title"])
    if "const" in schema:
        return quoted(str(schema["const"]))
    if "enum" in schema:
        named = [KINDS["null"] if v is None else quoted(str(v)) for v in schema["enum"]]
        return f"one of {', '.join(named)}" if len(named) > 1 else named[0]
    if "anyOf" in schema:
        return " or ".join(wanted(b) for b in schema["anyOf"] if b.get("type") != "null")
    kinds = schema.get("type", [])
    words = " or ".join(KINDS[k] for k in _many(kinds)) or "another value"
    if kinds == "array" and "items" in schema:
        words += f" of {wanted(schema['items'])}"
    if kinds == "object" and "properties" in schema:
        words += f" of {', '.join(schema['properties'])}"
    bounds = [text.format(schema[key]) for key, text in BOUNDS if key in schema]
    return ", ".join([words, *bounds])


def got(value: Any, place: Place) -> str:
    """A wrong value as it was written."""
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping" if value else "an empty mapping"
        case list():
            return "a list" if value else "an empty list"
        case str():
            return quoted(value)
        case _:
            return quoted(place.text)


def leaf_names(schema: Schema, prefix: str = "") -> Iterator[str]:
    """Dotted names of every field of a schema, parents first."""
    for branch in (schema, *schema.get("anyOf", ())):
        for name, field in branch.get("properties", {}).items():
            yield prefix + name
            yield from leaf_names(field, f"{prefix}{name}.")


def _is(schema: Schema, value: Any) -> bool:
    """Whether a value is of the branch's type, or where it states none, of its values' types."""
    kinds = schema.get("type")
    if kinds is None:
        return type(value) in [type(v) for v in schema.get("enum", [schema.get("const")])]
    return any(isinstance(value, TYPES[k]) and (k == "boolean") == isinstance(value, bool) for k in _many(kinds))


def _many(kinds: str | list[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrong:
    """One thing that a schema refuses: which keyword with which argument, which value, where."""

    keyword: str
    argument: Any
    schema: Schema
    value: Any
    keys: Keys

    @property
    def names(self) -> list[str]:
        """Fields that the schema knows here."""
        return list(self.schema.get("properties", ()))


def _wrongs(schema: Schema, value: Any) -> Iterator[_Wrong]:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    whole = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    validator: Any = extend(Draft202012Validator, type_checker=whole)  # type: ignore[no-untyped-call]
    yield from _selected(validator(schema).iter_errors(value))


def _selected(errors: Iterable[Any]) -> Iterator[_Wrong]:
    """Errors with each choice replaced by those inside the branch that the value's type selects."""
    for error in errors:
        branch = matching(error.schema, error.instance) if error.validator == "anyOf" else error.schema
        inner = [e for e in error.context if error.schema["anyOf"][e.schema_path[0]] is branch]
        if inner and not ("title" in error.schema and any(not e.path and e.validator in VALUES for e in inner)):
            yield from _selected(inner)
            continue
        of_a_key = "propertyNames" in error.schema_path
        yield _Wrong(
            keyword=error.validator,
            argument=error.validator_value,
            schema=error.schema,
            value=error.instance,
            keys=(*error.absolute_path, *([error.instance] if of_a_key else [])),
        )


def _fault(document: Document, root: Schema, wrong: _Wrong) -> tuple[Place, InputError]:
    keys, place, value = wrong.keys, document.places[wrong.keys], wrong.value
    match wrong.keyword:
        case "additionalProperties":
            return _unknown(document, root, wrong)
        case "required" | "dependentRequired":
            return place, _missing(wrong, place)
        case "uniqueItems":
            return place, fault(place, dotted(keys), "each item once", "a repeated one")
        case _:
            return place, fault(place, dotted(keys), wanted(wrong.schema), got(value, place), _hint(wrong))


def _hint(wrong: _Wrong) -> str:
    """The nearest word of a closed set; quotes, or none, or a list's brackets, where these alone are what is wrong."""
    branches = [wrong.schema, *wrong.schema.get("anyOf", ())]
    if isinstance(wrong.value, str):
        near = nearest(wrong.value, [str(v) for b in branches for v in b.get("enum", ())])
        if near:
            return f"did you mean `{near}`?"
    if isinstance(wrong.value, str | int | float) and any(b.get("type") == "array" for b in branches):
        return f"a list of it is `[{wrong.value}]`"
    if isinstance(wrong.value, str):
        number = any("const" in b or NUMBERS & {*_many(b.get("type", []))} for b in branches)
        return "write it without quotes" if number and wrong.value.isdecimal() else ""
    text = [b for b in branches if "string" in _many(b.get("type", []))]
    as_text = any(re.search(b.get("pattern", ""), str(wrong.value)) for b in text)
    return "put it in quotes" if as_text and isinstance(wrong.value, bool | int | float) else ""


def _unknown(document: Document, root: Schema, wrong: _Wrong) -> tuple[Place, InputError]:
    unknown = [(*wrong.keys, k) for k in wrong.value if k not in wrong.names]
    keys = min(unknown, key=lambda k: document.places[k].line)
    word, place = str(keys[-1]), document.places[keys]
    elsewhere = [n for n in leaf_names(root) if n.rpartition(".")[2] == word]
    near = nearest(word, wrong.names) or next(iter(elsewhere), None)
    hint = f"did you mean `{near}`?" if near else f"the fields here are: {', '.join(wrong.names)}"
    return place, fault(place, dotted(keys), "a known field", "an unknown one", hint)


def _missing(wrong: _Wrong, place: Place) -> InputError:
    if wrong.keyword == "required":
        name = next(n for n in wrong.argument if n not in wrong.value)
        beside = ""
    else:
        needs = ((k, n) for k, names in wrong.argument.items() if k in wrong.value for n in names)
        have, name = next((k, n) for k, n in needs if n not in wrong.value)
        beside = f" beside `{have}`"
    field = wrong.schema.get("properties", {}).get(name, {})
    return fault(place, dotted((*wrong.keys, name)), wanted(field) + beside, "nothing")
