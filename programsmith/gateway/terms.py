"""The terms of one gateway: who may ask what of which model, from rules and the trial.

In: rules/models.yaml, rules/gateway.yaml, the models that a trial may use, its budget. Out: Terms. Refuses with
InputError what cannot hold: a model without a price, a provider that no rule names, a key that would cross a network
in the clear, a shape that is not there.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from programsmith.errors import InputError
from programsmith.gateway.price import Bounds, Price
from programsmith.gateway.refusal import Refused, Why
from programsmith.gateway.shapes import BUILT_IN, Shapes
from programsmith.gateway.strict import Caps

MODEL = "{model}"
SHOWN = 200
"""Characters of a path that a refusal names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One request that passes."""

    method: str
    path: str
    protocol: str
    to: str = ""
    shape: str = ""
    query: tuple[str, ...] = ()
    asks: str = ""
    streams: bool = False
    free: bool = False
    answer: int | None = None

    def model_of(self, method: str, path: str) -> str | None:
        """The model that the path names, "" where its form names none; None where it is another request."""
        if method != self.method:
            return None
        before, found, after = self.path.partition(MODEL)
        if not found:
            return "" if path == before else None
        name = path[len(before) : len(path) - len(after)]
        return name if name and path == before + name + after and "/" not in name and ":" not in name else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One server of models."""

    name: str
    speaks: Mapping[str, str]
    key: str | None
    header: str
    before: str
    headers: Mapping[str, str]
    sets: Mapping[str, Mapping[str, Any]]
    caps: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model of the trial. `id` is what its provider calls it."""

    name: str
    id: str
    provider: Provider
    price: Price
    output_most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for one trial. `usd` None: only calls that cost nothing."""

    models: Mapping[tuple[str, str], Model]  # by protocol and the provider's own name
    routes: tuple[Route, ...]
    shapes: Shapes
    protocols: Mapping[str, Mapping[str, Any]]
    betas: frozenset[str]
    limits: Mapping[str, Any]
    tries: Mapping[str, Any]
    bounds: Bounds
    caps: Caps
    usd: Decimal | None

    def route(self, method: str, target: str) -> tuple[Route, str]:
        """The route of a request line, and the model that its path names. Raises Refused."""
        path, _, query = target.partition("?")
        for route in self.routes:
            model = route.model_of(method, path)
            if model is not None:
                if query and not set(query.split("&")) <= set(route.query):
                    raise Refused("invalid", Why.FRAMING, f"the query of {route.path} does not pass this gateway")
                return route, model
        raise Refused("path", Why.PATH, f"this gateway answers no {method[:20]} {path[:SHOWN]}")

    def model(self, protocol: str, name: Any) -> Model:
        """The model of that name. Raises Refused: no other passes, however it is spelt."""
        found = self.models.get((protocol, name)) if isinstance(name, str) else None
        if found is None:
            known = ", ".join(sorted(own for speaks, own in self.models if speaks == protocol)) or "none"
            raise Refused("model", Why.MODEL, f"not a model of this trial; those are: {known}")
        return found


def terms(rules: Mapping[str, Any], models: tuple[str, ...], usd: float | None) -> Terms:
    """The terms of a trial from rules `models` and `gateway`. Raises InputError."""
    gateway, limits = rules["gateway"], rules["gateway"]["limits"]
    _check_shapes(gateway)
    return Terms(
        models=dict(_models(rules["models"], models)),
        routes=tuple(Route(**{**row, "query": tuple(row["query"])}) for row in gateway["routes"]),
        shapes=Shapes(gateway["shapes"]),
        protocols=gateway["protocols"],
        betas=frozenset(gateway["betas"]),
        limits=limits,
        tries=gateway["tries"],
        bounds=Bounds(**{name: limits[name] for name in Bounds.__slots__}),
        caps=Caps(**{name: limits[name] for name in Caps.__slots__}),
        usd=None if usd is None else Decimal(str(usd)),
    )


def providers(rules: Mapping[str, Any], models: tuple[str, ...]) -> dict[str, Provider]:
    """The providers of these models, by name. Raises InputError."""
    return {name: _provider(rules, name) for name in sorted({model.partition("/")[0] for model in models})}


def _models(rules: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], Model]]:
    known = providers(rules, names)
    taken: dict[tuple[str, str], str] = {}
    for name in dict.fromkeys(names):
        row = rules["models"].get(name)
        if row is None:
            raise InputError(f"model {name}: rules/models.yaml has no price for it; add a row, 0 where it is free")
        first, _, own = name.partition("/")
        made = Model(name=name, id=own, provider=known[first], price=Price.of(row), output_most=row["output_most"])
        for protocol in known[first].speaks:
            other = taken.setdefault((protocol, own), name)
            if other != name:
                raise InputError(f"models {other} and {name}: a client cannot tell them apart; use one of them")
            yield (protocol, own), made


def _provider(rules: Mapping[str, Any], name: str) -> Provider:
    row = rules["providers"].get(name)
    if row is None:
        known = ", ".join(rules["providers"])
        raise InputError(f"provider {name}: rules/models.yaml has no such provider; it has {known}")
    for protocol, address in row["speaks"].items():
        if address.startswith("http:") and row.get("key") and not _of_this_machine(address):
            raise InputError(f"provider {name}: {protocol} would send a key in the clear to {address}; use https")
    sends = row.get("sends", {})
    return Provider(
        name=name,
        speaks=row["speaks"],
        key=row.get("key"),
        header=sends.get("header", ""),
        before=sends.get("before", ""),
        headers=row["headers"],
        sets=row["sets"],
        caps=row["caps"],
    )


def _of_this_machine(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_shapes(gateway: Mapping[str, Any]) -> None:
    """Refuse a table that names a shape which is not there."""
    shapes = gateway["shapes"]
    named = {name: f"shapes.{of}" for of, shape in shapes.items() for name in _named(shape)}
    named |= {row["shape"]: f"routes, {row['path']}" for row in gateway["routes"] if "shape" in row}
    for name, where in named.items():
        if name not in shapes and name not in BUILT_IN:
            raise InputError(f"rules/gateway.yaml: {where}: wanted the name of a shape, got `{name}`")
    bad = [name for name in shapes if name in BUILT_IN or not re.fullmatch(r"[a-z0-9_]+", name)]
    if bad:
        raise InputError(f"rules/gateway.yaml: shapes.{bad[0]}: wanted a name of its own in small letters")


def _named(shape: Mapping[str, Any]) -> Iterator[str]:
    for form in ("fields", "tagged", "kinds"):
        yield from shape.get(form, {}).values()
    yield from (shape[form] for form in ("list", "absent") if form in shape)
