"""One call from its first byte to its close: held, recorded, sent, passed on, settled.

In: a call, the client's request. Out: the answer that the client gets. A call is tried again only before its answer
began and where it cannot have been served; an answer is passed on event by event, no faster than the client takes it; a
client that goes away ends the call. What it took is settled whatever happened:

- a whole answer: the tokens that it tells;
- one that broke off: the tokens of the request where they were told, and the cap for the answer; else the whole bound;
- an error of the provider, or a request that did not reach it: nothing.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from programsmith.gateway import record
from programsmith.gateway.answers import body, error
from programsmith.gateway.failures import NETWORK, REFUSAL, error_text, retry_after, retry_delay
from programsmith.gateway.price import Tokens
from programsmith.gateway.record import Usage
from programsmith.gateway.sse import StreamError, events
from programsmith.gateway.strict import written
from programsmith.gateway.usage import READERS, Seen

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, web

    from programsmith.gateway.prepare import Call
    from programsmith.gateway.server import Gateway

JSON, SSE = "application/json", "text/event-stream"
ERROR_BYTES = 65536
REDACTED = b"[redacted]"
OK, REDIRECT = 200, 300
DONE = b"[DONE]"
LAST = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A try that failed: its class, the provider's status and words, the seconds that it asks for."""

    name: str
    said: str
    status: int | None = None
    after: float | None = None
    again: bool = True


class Exchange:
    """One call. It changes as the call goes on."""

    def __init__(self, gateway: Gateway, call: Call, request: web.BaseRequest) -> None:
        self._gateway, self._call, self._request = gateway, call, request
        self._id = uuid.uuid4().hex
        self._seen = Seen(declines=gateway.failures.declined)
        self._read = READERS[call.route.protocol]
        self._reached, self._end, self._attempts = False, record.CALLED_OFF, 0
        self._status: int | None = None
        self._answer: str | None = None
        self._after: float | None = None
        self._settled = False
        self._key = gateway.keys.get(call.model.provider.name, "")

    async def run(self) -> web.StreamResponse:
        """Make the call. Raises Refused where the budget does not allow it."""
        gateway, call = self._gateway, self._call
        gateway.meter.hold(call.bound)
        try:
            gateway.record.write(self._opened())
        except BaseException:
            gateway.meter.spend(call.bound, Decimal(0))
            raise
        try:
            return await self._tried()
        finally:
            self._settle()

    def _opened(self) -> record.Opened:
        call = self._call
        return record.Opened(
            id=self._id,
            at=self._gateway.clock(),
            model=call.model.name,
            route=f"{call.route.method} {call.route.path}",
            stream=call.stream,
            usd=f"{call.bound:f}",
            cap=call.cap,
            left_out=call.left_out,
            request=self._gateway.record.keep(self._clean(call.payload)),
        )

    async def _tried(self) -> web.StreamResponse:
        """Try as often as rules/gateway.yaml says."""
        tries, pause = self._gateway.terms.tries, float(self._gateway.terms.tries["first_seconds"])
        while True:
            self._attempts += 1
            answer = await self._try()
            if not isinstance(answer, Failed):
                return answer
            wait = max(answer.after or 0.0, min(pause, tries["most_seconds"]))
            more = self._attempts < tries["attempts"] and wait <= tries["most_seconds"]
            if not (more and answer.again and self._gateway.failures.again(answer.name)):
                return self._told(answer)
            await asyncio.sleep(wait)
            pause *= tries["factor"]

    async def _try(self) -> web.StreamResponse | Failed:
        import aiohttp

        call, self._reached = self._call, True
        try:
            async with self._session.post(
                call.url, data=call.payload, headers=self._headers(), allow_redirects=False
            ) as response:
                if OK <= response.status < REDIRECT:
                    self._status = response.status
                    return await self._passed(response)
                self._reached = False
                return await self._error(response)
        except (aiohttp.ClientConnectorError, aiohttp.ClientSSLError, aiohttp.ConnectionTimeoutError):
            self._reached = False
            return Failed(name=NETWORK, said="the provider cannot be reached")
        except (aiohttp.ClientError, TimeoutError, StreamError, OSError) as fault:
            if isinstance(fault, ConnectionResetError) and self._gone():
                raise
            return Failed(name=NETWORK, said="the provider's answer broke off", again=False)

    @property
    def _session(self) -> ClientSession:
        return self._gateway.session

    def _headers(self) -> dict[str, str]:
        provider = self._call.model.provider
        own = {provider.header: provider.before + self._key} if provider.header else {}
        return {**self._call.headers, **own}

    def _gone(self) -> bool:
        """Whether the client is."""
        transport = self._request.transport
        return transport is None or transport.is_closing()

    async def _passed(self, response: ClientResponse) -> web.StreamResponse | Failed:
        kind = response.content_type
        if kind == SSE and self._call.stream:
            return await self._streamed(response)
        if kind == SSE:
            return Failed(name=NETWORK, said="the provider streams what was not asked for as a stream", again=False)
        return await self._whole(response)

    async def _whole(self, response: ClientResponse) -> web.StreamResponse | Failed:
        from aiohttp import web

        most = self._gateway.terms.limits["answer_bytes"]
        raw = await _read_most(response, most)
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            value = None
        if len(raw) > most or not isinstance(value, dict):
            return Failed(name=NETWORK, said="the provider's answer is no JSON of an allowed size", again=False)
        self._note(value)
        clean = self._clean(raw)
        self._answer = self._gateway.record.keep(clean)
        self._end = self._ended()
        return web.Response(status=response.status, body=clean, content_type=JSON)

    async def _streamed(self, response: ClientResponse) -> web.StreamResponse:
        from aiohttp import ClientError, web

        limits = self._gateway.terms.limits
        out = web.StreamResponse(headers={"content-type": SSE, "cache-control": "no-cache"})
        await out.prepare(self._request)
        kept = bytearray()
        try:
            async for event, value in events(
                response.content.iter_any(), limits["event_bytes"], limits["answer_bytes"]
            ):
                self._note(value)
                clean = self._clean(event)
                kept += clean if self._gateway.record.keeps else b""
                if _is_last(event, value):
                    self._answer, self._end = self._gateway.record.keep(bytes(kept)), self._ended()
                    self._settle()
                if not self._hidden(value):
                    await out.write(clean)
        except (ClientError, TimeoutError, StreamError, OSError):
            if not self._gone():
                self._end = NETWORK
                self._break_off()
            return out
        except BaseException:
            self._break_off()
            raise
        finally:
            self._answer = self._gateway.record.keep(bytes(kept))
        self._end = self._ended()
        return out

    def _break_off(self) -> None:
        """End the connection without the stream's end, so that no client takes the answer for whole."""
        if self._request.transport is not None:
            self._request.transport.abort()

    def _note(self, value: Any) -> None:
        for piece in value if isinstance(value, list) else [value]:
            if isinstance(piece, dict):
                self._read(self._seen, piece)

    def _hidden(self, value: Any) -> bool:
        """Whether it is the chunk with the usage that we asked for and the client did not."""
        ours = self._call.route.protocol == "chat" and not self._call.shows_usage
        return ours and isinstance(value, dict) and value.get("choices") == [] and bool(value.get("usage"))

    def _ended(self) -> str:
        if self._seen.fault is not None:
            return self._gateway.failures.named(None, {"error": self._seen.fault})
        return REFUSAL if self._seen.declined else record.ANSWERED

    async def _error(self, response: ClientResponse) -> Failed:
        raw = self._clean(await _read_most(response, ERROR_BYTES))
        try:
            found = json.loads(raw)
        except (ValueError, RecursionError):
            found = raw[:ERROR_BYTES].decode("utf-8", "replace")
        self._status = response.status
        after = retry_after(response.headers.get("retry-after"), self._gateway.clock())
        return Failed(
            name=self._gateway.failures.named(response.status, found),
            said=_message(found) or f"the provider answered with status {response.status}",
            status=response.status,
            after=retry_delay(found) if after is None else after,
        )

    def _told(self, failed: Failed) -> web.Response:
        """The failure in the client's protocol. What a provider says of a key is not passed on."""
        from aiohttp import web

        self._end, self._after = failed.name, failed.after
        row, protocol = self._gateway.failures.answer(failed.name), self._call.route.protocol
        if failed.name == "auth":
            made = body(protocol, row, "the provider does not serve the key or the model that this gateway asks with")
        elif failed.name == "invalid" and failed.status:
            row = replace(row, status=failed.status)
            made = written(error(protocol, row, failed.said))
        else:
            made = written(error(protocol, row, failed.said))
        headers = {} if failed.after is None else {"retry-after": str(int(failed.after + 0.999))}
        return web.Response(status=row.status, body=made, content_type=JSON, headers=headers)

    def _clean(self, raw: bytes) -> bytes:
        """Bytes without the key."""
        return raw.replace(self._key.encode(), REDACTED) if self._key else raw

    def _settle(self) -> None:
        """Close the call, once, before the client sees its end, so that the next finds nothing held for it.

        A client that leaves with the whole answer called nothing off.
        """
        if self._settled:
            return
        self._settled = True
        tokens, usage, usd = self._took()
        if self._end == record.CALLED_OFF and usage is Usage.FINAL:
            self._end = self._ended()
        meter, text = self._gateway.meter, self._call.text_bytes
        meter.spend(self._call.bound, usd)
        if text is not None and usage in {Usage.FINAL, Usage.SEEN}:
            meter.densest = min(meter.densest, self._gateway.terms.bounds.seen(text, tokens.taken))
        self._gateway.record.write(
            record.Closed(
                id=self._id,
                at=self._gateway.clock(),
                end=self._end,
                status=self._status,
                attempts=self._attempts,
                tokens=tokens,
                usage=usage,
                usd=f"{usd:f}",
                answer=self._answer,
                after=self._after,
            )
        )

    def _took(self) -> tuple[Tokens, Usage, Decimal]:
        call, price = self._call, self._call.model.price
        if not self._reached or call.route.free:
            return Tokens(), Usage.NONE, Decimal(0)
        if self._seen.tokens is not None:
            return self._seen.tokens, Usage.FINAL, price.usd(self._seen.tokens)
        if self._seen.taken is not None:
            most = replace(self._seen.taken, output=call.cap)
            return most, Usage.SEEN, price.usd(most)
        return Tokens(), Usage.ASSUMED, call.bound


async def _read_most(response: ClientResponse, most: int) -> bytes:
    """The body, or one byte more than allowed of it."""
    raw = bytearray()
    async for piece in response.content.iter_any():
        raw += piece
        if len(raw) > most:
            break
    return bytes(raw[: most + 1])


def _is_last(event: bytes, value: Any) -> bool:
    """Whether a client may take the stream for ended here, whatever the connection does."""
    if isinstance(value, dict):
        return value.get("type") in LAST
    return value is None and DONE in event


def _message(found: Any) -> str:
    """The message of an error; its whole text where it has none."""
    inner: Any = found[0] if isinstance(found, list) and found else found
    inner = inner.get("error", inner) if isinstance(inner, Mapping) else inner
    told = inner.get("message") if isinstance(inner, Mapping) else None
    return told if isinstance(told, str) else error_text(found)
