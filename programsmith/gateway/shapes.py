"""The shape of a request: what of it passes, by the table of shapes in rules/gateway.yaml.

In: a value, the name of a shape. Out: the value with what no shape lists left out, the names of that, and how many
images it holds. Refuses what would mean something else by being left out. A shape allows; nothing is found by
forbidding it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from programsmith.gateway.refusal import Refused, Why

BUILT_IN = ("text", "number", "flag", "null", "any", "image_data", "data_url")
DATA_URL = re.compile(r"data:image/(png|jpe?g|gif|webp);base64,")
NAMES = 50
"""Parts left out that are named; their names come from a client."""
NAME_LENGTH = 100
GONE: Any = object()
"""What stands for a part that is left out."""


@dataclass(slots=True)
class Shaped:
    """What passed. `images` count, and their bytes are not text."""

    value: Any = None
    left_out: set[str] = field(default_factory=set)
    images: int = 0
    image_bytes: int = 0

    def leave_out(self, at: str) -> None:
        """Note a part that does not pass."""
        if len(self.left_out) < NAMES:
            self.left_out.add(at[:NAME_LENGTH])


class Shapes:
    """The table."""

    def __init__(self, table: Mapping[str, Mapping[str, Any]]) -> None:
        self._table = table

    def shaped(self, name: str, value: Any) -> Shaped:
        """The value in the shape `name`. Raises Refused."""
        made = Shaped()
        made.value = self._apply(name, value, "", made)
        return made

    def _apply(self, name: str, value: Any, at: str, made: Shaped) -> Any:
        if name in BUILT_IN:
            return _built_in(name, value, at, made)
        shape = self._table[name]
        for form, apply in FORMS.items():
            if form in shape:
                return apply(self, shape, value, at, made)
        raise AssertionError(name)

    def _fields(self, shape: Mapping[str, Any], value: Any, at: str, made: Shaped) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _wrong(at, "an object", value)
        for name, why in shape["refused"].items():
            if value.get(name):
                raise Refused("invalid", Why(why), f"`{_below(at, name)}` does not pass this gateway ({why})")
        found: dict[str, Any] = {}
        for name, inner in value.items():
            here = _below(at, name)
            if name not in shape["fields"]:
                self._unlisted(shape, name, here, made)
            elif inner is not None or self._allows_null(shape["fields"][name]):
                passed = self._apply(shape["fields"][name], inner, here, made)
                if passed is not GONE:
                    found[name] = passed
        return found

    def _unlisted(self, shape: Mapping[str, Any], name: str, here: str, made: Shaped) -> None:
        if shape["strict"]:
            raise Refused("invalid", Why.FIELD, f"`{here[:NAME_LENGTH]}` does not pass this gateway")
        if name not in shape["refused"]:
            made.leave_out(here)

    def _allows_null(self, name: str) -> bool:
        return name in {"null", "any"} or "null" in self._table.get(name, {}).get("kinds", {})

    def _list(self, shape: Mapping[str, Any], value: Any, at: str, made: Shaped) -> Any:
        if not isinstance(value, list):
            raise _wrong(at, "a list", value)
        found = [self._item(shape, item, f"{at}[]", made) for item in value]
        kept = [item for item in found if item is not GONE]
        return GONE if found and not kept else kept

    def _item(self, shape: Mapping[str, Any], item: Any, at: str, made: Shaped) -> Any:
        if not shape["drops"]:
            return self._apply(shape["list"], item, at, made)
        try:
            passed = self._apply(shape["list"], item, at, made)
        except Refused:
            passed = {}
        if passed == {}:
            made.leave_out(f"{at} {_called(item)}")
            return GONE
        return passed

    def _tagged(self, shape: Mapping[str, Any], value: Any, at: str, made: Shaped) -> Any:
        if not isinstance(value, dict):
            raise _wrong(at, "an object", value)
        by = shape["by"]
        tag = value.get(by)
        name = shape["tagged"].get(tag) if isinstance(tag, str) else shape.get("absent") if by not in value else None
        if name is None:
            kinds = ", ".join(shape["tagged"])
            raise Refused("invalid", Why.KIND, f"`{_below(at, by)}` {_called(value)} does not pass; these do: {kinds}")
        return self._apply(name, value, at, made)

    def _kinds(self, shape: Mapping[str, Any], value: Any, at: str, made: Shaped) -> Any:
        name = shape["kinds"].get(_kind(value))
        if name is None:
            raise _wrong(at, " or ".join(shape["kinds"]), value)
        return self._apply(name, value, at, made)

    def _words(self, shape: Mapping[str, Any], value: Any, at: str, _made: Shaped) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int) or value not in shape["words"]:
            words = ", ".join(map(str, shape["words"]))
            raise Refused("invalid", Why.KIND, f"`{at}`: wanted one of {words}; this gateway passes no other")
        return value


FORMS = {
    "fields": Shapes._fields,  # noqa: SLF001 - the table of the class's own forms
    "list": Shapes._list,  # noqa: SLF001
    "tagged": Shapes._tagged,  # noqa: SLF001
    "kinds": Shapes._kinds,  # noqa: SLF001
    "words": Shapes._words,  # noqa: SLF001
}


def _built_in(name: str, value: Any, at: str, made: Shaped) -> Any:
    if name == "any":
        return value
    wanted = "text" if name in {"image_data", "data_url"} else name
    if _kind(value) != wanted:
        raise _wrong(at, wanted, value)
    if name == "data_url" and not DATA_URL.match(value):
        wanted = "the bytes of a PNG, JPEG, GIF or WebP image in a data: URL of base64"
        raise Refused("invalid", Why.KIND, f"`{at}`: an address does not pass; wanted {wanted}")
    if name in {"image_data", "data_url"}:
        made.images += 1
        made.image_bytes += len(value)
    return value


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "flag"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list():
            return "list"
        case _:
            return "object"


def _wrong(at: str, wanted: str, value: Any) -> Refused:
    return Refused("invalid", Why.KIND, f"`{at or 'the body'}`: wanted {wanted}, got {_kind(value)}")


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _called(item: Any) -> str:
    """An item by its type, as far as it says one."""
    found = item.get("type") if isinstance(item, dict) else None
    names = ",".join(item) if isinstance(item, dict) else _kind(item)
    return (found if isinstance(found, str) else names)[:NAME_LENGTH]
