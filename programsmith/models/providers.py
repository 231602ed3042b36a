"""Providers' own clients, each behind the gateway: it adds the key, meters, and says why a call failed.

In: a request, rules, the environment that may have keys, a folder. Out: a Reply. Each client is told a unix socket that
its owner alone can open, and no key. What the provider answers in words decides nothing: the class of a failure is what
the gateway recorded. Raises PrerequisiteError without client or key, InfraError where the call may do later.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError, InputError, PrerequisiteError
from programsmith.gateway.record import ANSWERED, Account, account
from programsmith.gateway.start import Running, Wanted, gateway
from programsmith.gateway.terms import providers
from programsmith.models.request import Reply, Request
from programsmith.sandboxes.scratch import scratch

NO_KEY = "gateway"
HOST = "http://gateway"
OWN = frozenset({"refusal", "context_length"})
"""Classes of failures that the same request meets again: there is no answer to it. Others are infra."""
SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class To:
    """What a client asks for: the provider's own name of the model, and of what bounds an answer where that is odd."""

    model: str
    cap: str


Client = Callable[[Request, Any, To], str]
"""Asks over an HTTP client; the text of the answer."""


def complete(
    request: Request, usd: Decimal, rules: Mapping[str, Any], environment: Mapping[str, str], record: Path
) -> tuple[Reply, Account]:
    """Put the request; the reply, and what the gateway's `record` comes to. `usd`: what it may cost at most.

    Whatever it raises it raises before anything was sent.
    """
    client, to = _client(rules, request.model)
    with scratch("ask") as folder:
        most = float(usd) if usd else None
        wanted = Wanted(models=(request.model,), usd=most, folder=folder, record=record, calls=1)
        with gateway(wanted, rules, environment) as running:
            text, fault = _called(client, request, to, running)
        found = read_account(running.record)
    return _reply(text, fault, found), found


def _client(rules: Mapping[str, Any], model: str) -> tuple[Client, To]:
    """How the model's provider is asked, and for what. Raises InputError, PrerequisiteError."""
    provider = next(iter(providers(rules["models"], (model,)).values()))
    for protocol, (package, client) in CLIENTS.items():
        if protocol in provider.speaks:
            for needed in (package, "httpx2"):
                if importlib.util.find_spec(needed.partition(".")[0]) is None:
                    how = "pip install 'programsmith[models]'"
                    raise PrerequisiteError(f"{model} is asked by the package {needed}, which is not here; run: {how}")
            return client, To(model=model.partition("/")[2], cap=provider.caps.get(protocol, ""))
    raise InputError(f"{model}: wanted a provider that speaks one of {', '.join(CLIENTS)}, got {provider.name}")


def _called(client: Client, request: Request, to: To, running: Running) -> tuple[str, str]:
    """The text of the answer, or the client's fault."""
    import httpx2

    with httpx2.Client(
        transport=httpx2.HTTPTransport(uds=str(running.socket)), timeout=SECONDS, trust_env=False
    ) as http:
        try:
            return client(request, http, to), ""
        except Exception as fault:  # noqa: BLE001 - every client has its own; the record tells what it was
            return "", f"{type(fault).__name__}"


def read_account(record: Path) -> Account:
    """What a record comes to; an open call where it cannot be read."""
    try:
        return account(record)
    except InfraError:
        return Account(calls=1, open=1)


def _reply(text: str, fault: str, found: Account) -> Reply:
    """The reply of a call that ended so."""
    usd = float(found.usd)
    if found.last == ANSWERED:
        return Reply(text=text, usd=usd) if not fault else Reply(fault=f"unread: {fault}", usd=usd)
    if found.last in OWN:
        return Reply(fault=str(found.last), usd=usd)
    return Reply(fault=found.last or f"network: {fault or 'nothing was asked'}", usd=usd)


def require(request: Request, reply: Reply, failures: Mapping[str, Any], after: float | None) -> Reply:
    """The reply, where it is one of the model's. `failures` is the rule, `after` seconds that the provider asks for.

    Raises InfraError: only what the rule says to try again is worth another attempt, any other may be paid for again.
    """
    why = reply.fault.partition(":")[0]
    if why and why not in OWN:
        again = bool(failures["classes"].get(why, {}).get("again"))
        remedy = "check the key, its account and the model's name, then run again" if why == "auth" else "run again"
        said = f"{request.block}: {request.model} gave nothing to go by ({reply.fault}); {remedy}"
        raise InfraError(said, again=again, after=after or 0.0)
    return reply


def _anthropic(request: Request, http: Any, to: To) -> str:
    import anthropic

    client = anthropic.Anthropic(base_url=HOST, api_key=NO_KEY, max_retries=0, http_client=http)
    messages: Any = [{"role": role, "content": text} for role, text in request.turns]
    made = client.messages.create(
        model=to.model, max_tokens=request.answer_tokens, system=request.system, messages=messages, timeout=SECONDS
    )
    return "".join(block.text for block in made.content if block.type == "text")


def _chat(request: Request, http: Any, to: To) -> str:
    import openai

    client = openai.OpenAI(base_url=f"{HOST}/v1", api_key=NO_KEY, max_retries=0, http_client=http)
    messages: Any = [{"role": "system", "content": request.system}]
    messages += [{"role": role, "content": text} for role, text in request.turns]
    made = client.chat.completions.create(
        model=to.model, messages=messages, extra_body={to.cap or "max_completion_tokens": request.answer_tokens}
    )
    return made.choices[0].message.content or ""


def _gemini(request: Request, http: Any, to: To) -> str:
    from google import genai
    from google.genai import types

    client = genai.Client(api_key=NO_KEY, http_options=types.HttpOptions(base_url=HOST, httpx_client=http))
    roles = {"assistant": "model", "user": "user"}
    contents: Any = [types.Content(role=roles[r], parts=[types.Part(text=text)]) for r, text in request.turns]
    config = types.GenerateContentConfig(
        system_instruction=request.system,
        max_output_tokens=request.answer_tokens,
        response_mime_type="application/json",
    )
    return client.models.generate_content(model=to.model, contents=contents, config=config).text or ""


CLIENTS: Mapping[str, tuple[str, Client]] = {
    "anthropic": ("anthropic", _anthropic),
    "gemini": ("google.genai", _gemini),
    "chat": ("openai", _chat),
}
"""By protocol: the package, and how it is asked."""
