"""A gateway from what its starter hands over: terms, record, keys, a session, and the server until it is told to stop.

In: what programsmith/gateway/start.py gives. Out: a record of all calls. What is still running at the end is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.gateway.failures import Failures
from programsmith.gateway.meter import Meter
from programsmith.gateway.record import Record, account
from programsmith.gateway.server import Gateway, serve
from programsmith.gateway.terms import terms


async def serving(
    given: Mapping[str, Any], stop: asyncio.Event, ready: Callable[[], None], say: Callable[[str], None]
) -> None:
    """Serve until `stop`; `ready` is called once it answers, `say` told what is wrong. Raises ProgramSmithError."""
    import aiohttp

    agreed = terms(given["rules"], tuple(given["models"]), given["usd"])
    path, bodies, limits = Path(given["record"]), given["bodies"], agreed.limits
    record = Record(path, Path(bodies) if bodies else None)
    before = account(path)
    calls = min(limits["calls"], given["calls"] or limits["calls"])
    timeout = aiohttp.ClientTimeout(
        total=limits["answer_seconds"], sock_connect=limits["connect_seconds"], sock_read=limits["silent_seconds"]
    )
    connector = aiohttp.TCPConnector(force_close=True, limit=limits["concurrent"])
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        gateway = Gateway(
            terms=agreed,
            failures=Failures(given["rules"]["failures"]),
            record=record,
            meter=Meter(usd=agreed.usd, calls_most=calls, spent=before.usd, calls=before.calls),
            keys=given["keys"],
            session=session,
            say=say,
            stop=stop,
        )
        await serve(gateway, Path(given["socket"]), ready, stop)
    record.close()
    if gateway.lost:
        raise InfraError(f"{path}: the record of calls cannot be written; make room for it, then run again")
