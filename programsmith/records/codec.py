"""Frozen dataclasses to JSON and back, by their annotations. Bytes are base64, tuples lists, enums their values."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import types
import typing
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def encode(value: Any) -> Any:
    """JSON value of a record. Raises TypeError on a type that no record uses."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case tuple() | list():
            return [encode(v) for v in value]
        case dict():
            return {str(k): encode(v) for k, v in value.items()}
        case _:
            raise TypeError(f"no JSON form for {type(value).__name__}")


def decode(kind: type[T], value: Any) -> T:
    """Record of type `kind` from its JSON value. Raises TypeError, KeyError or ValueError on a wrong shape."""
    return typing.cast("T", _decode(kind, value))


def _decode(kind: Any, value: Any) -> Any:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _decode(next(a for a in args if a is not type(None)), value)
    if origin is tuple:
        return _decode_tuple(args, value)
    if origin is dict:
        return {k: _decode(args[1], v) for k, v in _mapping(kind, value).items()}
    if dataclasses.is_dataclass(kind):
        return _decode_record(kind, _mapping(kind, value))
    return _decode_scalar(kind, value)


def _mapping(kind: Any, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{kind}: wanted an object, got {type(value).__name__}")
    return value


def _decode_tuple(args: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    match args:
        case (inner, types.EllipsisType()):
            return tuple(_decode(inner, v) for v in value)
        case _:
            return tuple(_decode(a, v) for a, v in zip(args, value, strict=True))


_hints = functools.cache(typing.get_type_hints)  # a record class is decoded thousands of times


def _decode_record(kind: Any, value: Any) -> Any:
    hints = _hints(kind)
    unknown = set(value) - set(hints)
    if unknown:
        raise TypeError(f"{kind}: unknown fields {sorted(unknown)}")
    return kind(**{k: _decode(hints[k], v) for k, v in value.items()})


def _decode_scalar(kind: Any, value: Any) -> Any:
    if kind is bytes:
        return base64.b64decode(value, validate=True)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is float and isinstance(value, int):
        return float(value)
    if kind is Any or isinstance(value, kind):
        return value
    raise TypeError(f"wanted {kind}, got {value!r}")


def dump(path: Path, value: Any) -> None:
    """Write a record as stable, readable JSON."""
    text = json.dumps(encode(value), indent=1, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="ascii")


def load(path: Path, kind: type[T]) -> T:
    """Read a record that `dump` wrote."""
    return decode(kind, json.loads(path.read_bytes()))


def dump_lines(path: Path, values: typing.Iterable[Any]) -> None:
    """Write records one per line."""
    with path.open("w", encoding="ascii") as out:
        for value in values:
            out.write(json.dumps(encode(value), sort_keys=True, allow_nan=False, separators=(",", ":")) + "\n")


def load_lines(path: Path, kind: type[T]) -> list[T]:
    """Read records that `dump_lines` wrote."""
    with path.open("rb") as lines:
        return [decode(kind, json.loads(line)) for line in lines]
