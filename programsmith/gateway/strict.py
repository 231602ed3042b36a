"""JSON of a request, read strictly: what two readers could understand differently is refused.

In: bytes, caps. Out: the value. Refused are bytes that are not UTF-8, a key that stands twice in an object, NaN and
infinities, numbers with too many digits, too deep a nesting, too many values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from programsmith.gateway.refusal import Refused, Why


class TwiceError(ValueError):
    """A key stands twice in one object."""


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON document, each key of which stands there once. Raises TwiceError."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise TwiceError("a key stands twice in one object")
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The most that a document may have."""

    depth: int
    values: int
    digits: int


def read(body: bytes, caps: Caps) -> Any:
    """The value that `body` says. Raises Refused."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=once,
            parse_constant=_no_constant,
            parse_int=lambda digits: _integer(digits, caps.digits),
            parse_float=lambda digits: _finite(digits, caps.digits),
        )
    except UnicodeDecodeError:
        raise _refused("the body is not UTF-8") from None
    except TwiceError as fault:
        raise _refused(str(fault)) from None
    except RecursionError:
        raise _refused(f"the body is nested deeper than {caps.depth}") from None
    except json.JSONDecodeError as fault:
        raise _refused(f"the body is no JSON: {fault.msg} at character {fault.pos}") from None
    _bounded(value, caps)
    return value


def written(value: Any) -> bytes:
    """The value as bytes of ours: UTF-8, or escapes where text holds half a surrogate pair."""
    compact = (",", ":")
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=compact).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=compact).encode("ascii")


def _no_constant(name: str) -> NoReturn:
    raise _refused(f"{name} is no JSON number")


def _integer(digits: str, most: int) -> int:
    if len(digits) > most:
        raise _refused(f"a number has more than {most} digits")
    return int(digits)


def _finite(digits: str, most: int) -> float:
    number = float(digits) if len(digits) <= most else math.inf
    if not math.isfinite(number):
        raise _refused(f"a number is too large or has more than {most} digits")
    return number


def _bounded(value: Any, caps: Caps) -> None:
    """Walk by level, so that no nesting exhausts the stack."""
    level, depth, count = [value], 0, 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > caps.depth:
            raise _refused(f"the body is nested deeper than {caps.depth}")
        if count > caps.values:
            raise _refused(f"the body has more than {caps.values} values")
        level = [inner for outer in level for inner in _inner(outer)]


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refused(message: str) -> Refused:
    return Refused("invalid", Why.JSON, message)
