"""The surroundings that a golden must not depend on, as data: one axis each, with two settings unlike grading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from programsmith.goldens.capture import Variation
from programsmith.payload.verifier.launcher import Surroundings

SETTINGS = (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One dimension. Each value is a pair: what the two settings put there. `cause` is the word for a dependence."""

    name: str
    cause: str
    env: Mapping[str, tuple[str, str]]
    surroundings: Mapping[str, tuple[Any, Any]]
    form: tuple[str, str] | None = None


def axes_of(rule: Mapping[str, Any], *, clock: bool = True) -> tuple[Axis, ...]:
    """The axes of section `axes` of rules/goldens.yaml, in the file's order; `clock` says that one can be turned."""
    return tuple(
        Axis(
            name=name,
            cause=value.get("cause", f"depends_on_{name}"),
            env={k: _pair(v) for k, v in value.get("env", {}).items()},
            surroundings={k: _pair(v) for k, v in value.get("surroundings", {}).items()},
            form=_pair(value["form"]) if "form" in value else None,
        )
        for name, value in rule.items()
        if clock or "clock" not in value.get("surroundings", {})
    )


def vary(axes: Iterable[Axis], setting: int) -> Variation:
    """All of `axes` turned to one setting, everything else as at grading."""
    env: dict[bytes, bytes] = {}
    surroundings = Surroundings()
    variation = Variation()
    for axis in axes:
        env.update({k.encode(): v[setting].encode() for k, v in axis.env.items()})
        surroundings = replace(surroundings, **{k: v[setting] for k, v in axis.surroundings.items()})
        if axis.form:
            variation = replace(variation, form=axis.form[setting])
    return replace(variation, env=tuple(env.items()), surroundings=surroundings)


def _pair(value: Any) -> tuple[Any, Any]:
    first, second = value
    return first, second
