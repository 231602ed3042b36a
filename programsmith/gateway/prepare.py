"""A client's request made into ours: the same question, in the shape that passes, with a cap on its answer.

In: terms, a request's target, headers and body. Out: the call that is sent, with what is held for it. Nothing of
the client's bytes or headers is forwarded; all is written anew. Raises Refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from programsmith.gateway.refusal import Refused, Why
from programsmith.gateway.strict import read, written
from programsmith.gateway.terms import MODEL, Model, Route, Terms

BETA = "anthropic-beta"
LASTING = b'"ttl":"1h"'
"""How a request as we write it asks for a cache that lives longer; text that only looks so costs a higher bound."""
AGENT = "programsmith-gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call. `bound` dollars are held for it; its answer has at most `cap` tokens."""

    route: Route
    model: Model
    url: str
    headers: Mapping[str, str]
    payload: bytes
    stream: bool
    shows_usage: bool  # whether the client asked for the chunk that tells a stream's usage
    bound: Decimal
    cap: int
    left_out: tuple[str, ...]
    text_bytes: int | None  # of the request; None where it has images, whose tokens nobody tells apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A client's request: its route, the model of its path, its body, its header of betas."""

    route: Route
    named: str
    body: bytes
    betas: str


def prepared(terms: Terms, asked: Asked, usd: Decimal, seen: float = math.inf) -> Call:
    """The call that a request becomes, of at most `usd` where its answer need not be long for that.

    `seen` bytes a token were the densest request before it.
    """
    route = asked.route
    shaped = terms.shapes.shaped(route.shape, read(asked.body, terms.caps))
    value: dict[str, Any] = shaped.value
    model = terms.model(route.protocol, asked.named or value.get("model"))
    kept, left = _betas(terms, route, asked.betas)
    stream = route.streams or value.get("stream") is True
    shows = _wants_usage(value)
    if not route.free:
        value |= model.provider.sets.get(route.protocol, {})
    if stream and route.protocol == "chat":
        value["stream_options"] = {"include_usage": True}
    asks = written(value)
    text = len(asks) - shaped.image_bytes
    lasting, taken = LASTING in asks, terms.bounds.taken(text, shaped.images, seen)
    room = model.price.output_for(usd, taken, model.output_most, lasting=lasting)
    cap = 0 if route.free else _cap(terms, route, model, value, room)
    address = model.provider.speaks[route.protocol] + route.to.replace(MODEL, model.id)
    return Call(
        route=route,
        model=model,
        url=f"{address}?{route.asks}" if route.asks else address,
        headers=_headers(model, kept, stream=stream),
        payload=written(value),
        stream=stream,
        shows_usage=shows,
        bound=Decimal(0) if route.free else model.price.at_most(taken, cap, lasting=lasting),
        cap=cap,
        left_out=tuple(sorted(shaped.left_out | left)),
        text_bytes=None if shaped.images else text,
    )


def _wants_usage(value: Mapping[str, Any]) -> bool:
    options = value.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _headers(model: Model, betas: tuple[str, ...], *, stream: bool) -> dict[str, str]:
    made = {
        "content-type": "application/json",
        "accept": "text/event-stream" if stream else "application/json",
        "accept-encoding": "identity",
        "user-agent": AGENT,
        **model.provider.headers,
    }
    return {**made, BETA: ",".join(betas)} if betas else made


def _betas(terms: Terms, route: Route, header: str) -> tuple[tuple[str, ...], set[str]]:
    """The betas that pass, and what is left out."""
    asked = [name.strip() for name in header.split(",") if name.strip()] if route.protocol == "anthropic" else []
    left = {f"{BETA}: {name[:80]}" for name in asked[:20] if name not in terms.betas}
    return tuple(dict.fromkeys(name for name in asked if name in terms.betas)), left


def _cap(terms: Terms, route: Route, model: Model, value: dict[str, Any], room: int) -> int:
    """The most tokens that the answer has, and the request says so afterwards.

    Where the budget leaves `room` for fewer than are asked for, the answer is held to these, and what it has to exceed
    to half of them; not to so few that it would be of no use, for then the budget is spent.
    """
    rule = terms.protocols[route.protocol]
    places, needs = rule["caps"], _get(value, rule["above"]) if rule["above"] else None
    most = model.output_most
    said = {place: _get(value, place) for place in places if _get(value, place) is not None}
    for place, number in said.items():
        if not isinstance(number, int) or number < 1:
            raise Refused("invalid", Why.KIND, f"`{place}`: wanted a whole number from 1 up")
        most = min(most, number)
    least = min(most, terms.limits["output_least"])
    asked, most = most, most if room < least else min(most, room)
    if most < asked and isinstance(needs, int) and needs >= most:
        _put(value, rule["above"], most // 2)
    for place in said or (model.provider.caps.get(route.protocol, places[0]),):
        _put(value, place, most)
    return most


def _get(value: Mapping[str, Any], place: str) -> Any:
    found: Any = value
    for name in place.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _put(value: dict[str, Any], place: str, number: int) -> None:
    *outer, last = place.split(".")
    for name in outer:
        value = value.setdefault(name, {})
    value[last] = number
