"""The gateway's server: HTTP on a unix socket, request by request.

In: terms, keys, a record. Out: answers to clients. A request is matched by the very text of its request line, read
whole and strictly, and asked anew in our own words; nothing of it but that is sent. Connections to providers are made
directly, follow no redirect and are used once.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from programsmith.gateway.answers import body
from programsmith.gateway.exchange import JSON, Exchange
from programsmith.gateway.failures import Failures
from programsmith.gateway.meter import Meter
from programsmith.gateway.prepare import BETA, Asked, prepared
from programsmith.gateway.record import Declined, Record
from programsmith.gateway.refusal import Refused, Why
from programsmith.gateway.terms import Terms

if TYPE_CHECKING:
    from aiohttp import ClientSession, web

SHUT_SECONDS = 2.0
SAID = 300
SAID_FAULTS = 20
"""Faults that are told; the starter reads them at the end, and its pipe holds only so much."""
DRAIN_SECONDS = 5.0


@dataclass(slots=True, kw_only=True)
class Gateway:
    """All that calls share. `keys` are by provider; printing it shows none."""

    terms: Terms
    failures: Failures
    record: Record
    meter: Meter
    keys: Mapping[str, str] = field(repr=False)
    session: ClientSession
    say: Callable[[str], None]
    stop: asyncio.Event
    clock: Callable[[], float] = time.time
    inside: int = 0
    refused: int = 0
    faults: int = 0
    lost: bool = False  # its record takes nothing any more
    slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.slots = asyncio.Semaphore(self.terms.limits["concurrent"])

    async def answered(self, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to one request."""
        from aiohttp import web

        protocol, self.inside = "", self.inside + 1
        try:
            route, named = self.terms.route(request.method, request.raw_path)
            protocol = route.protocol
            if route.answer is not None:
                return web.Response(status=route.answer)
            self._not_too_many()
            raw = await _body(request, self.terms.limits["body_bytes"])
            asked = Asked(route=route, named=named, body=raw, betas=",".join(request.headers.getall(BETA, ())))
            async with self.slots:
                return await Exchange(
                    self, prepared(self.terms, asked, self.meter.left, self.meter.densest), request
                ).run()
        except Refused as refused:
            answer = self._refused(protocol, refused)
            if refused.why is Why.LARGE:
                answer.force_close()
            else:
                await _drained(request)
            return answer
        except ConnectionResetError:
            raise
        except Exception as fault:  # noqa: BLE001 - what a fault says could hold what must not be logged
            self._failed(type(fault).__name__)
            return web.Response(status=500, body=body(protocol, self.failures.answer("network"), "a fault of ours"))
        finally:
            self.inside -= 1

    def _failed(self, kind: str) -> None:
        """Tell of a fault of ours, in the record as well; a gateway that cannot even do that serves nobody on."""
        self.faults += 1
        if self.faults <= SAID_FAULTS:
            self.say(f"a fault of ours: {kind}")
        try:
            self._decline(Why.FAULT, kind)
        except OSError:
            self.lost = True
            self.stop.set()

    def _decline(self, why: Why, said: str) -> None:
        """Record it, once where one follows another: an agent may ask on and on."""
        last = self.record.last
        if not (isinstance(last, Declined) and last.why == why.value):
            self.record.write(Declined(at=self.clock(), why=why.value, said=said[:SAID]))

    def _not_too_many(self) -> None:
        limits = self.terms.limits
        if self.inside > limits["concurrent"] + limits["waiting"]:
            raise Refused("busy", Why.BUSY, "too many requests wait; come again")

    def _refused(self, protocol: str, refused: Refused) -> web.Response:
        from aiohttp import web

        self.refused += 1
        if self.refused <= self.terms.limits["refused"]:
            self.record.write(Declined(at=self.clock(), why=refused.why.value, said=refused.message[:SAID]))
        elif refused.told == "budget":
            self._decline(refused.why, refused.message)
        row = self.failures.answer(refused.told)
        made = body(protocol, row, refused.message)
        return web.Response(status=row.status, body=made, content_type=JSON)


async def _body(request: web.BaseRequest, most: int) -> bytes:
    """The whole body. Raises Refused."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused("invalid", Why.FRAMING, "an encoded body does not pass this gateway")
    if (request.content_length or 0) > most:
        raise Refused("large", Why.LARGE, f"the body has more than {most} bytes")
    raw = bytearray()
    async for piece in request.content.iter_any():
        raw += piece
        if len(raw) > most:
            raise Refused("large", Why.LARGE, f"the body has more than {most} bytes")
    return bytes(raw)


async def _drained(request: web.BaseRequest) -> None:
    """Take what is left of a refused body, for a client that is cut off while it writes never reads why."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in request.content.iter_any():
                pass


async def serve(gateway: Gateway, path: Path, ready: Callable[[], None], stop: asyncio.Event) -> None:
    """Answer on the socket at `path`, for its owner alone, until `stop`; then end what is still running."""
    from aiohttp import web

    server = web.Server(
        gateway.answered, handler_cancellation=True, auto_decompress=False, access_log=None, keepalive_timeout=3600
    )
    runner = web.ServerRunner(server, shutdown_timeout=SHUT_SECONDS)
    await runner.setup()
    try:
        await web.UnixSite(runner, path).start()
        ready()
        await stop.wait()
    finally:
        await runner.cleanup()
