"""The model of one trial: a gateway for its time, what it may spend, what becomes of a trial that ended on a failure.

In: the model that an entry names, rules, an environment that may have keys, where the record goes. Out: the socket that
the relay of the agent's sandbox leads to; afterwards the account of the record, which is what the trial used, whatever
the agent says of itself. A failure that its class calls infra is no trial (InfraError): it says whether another attempt
may do better, and how long the provider asks to wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError, InputError
from programsmith.gateway.failures import Failures
from programsmith.gateway.record import ANSWERED, CALLED_OFF, Account
from programsmith.gateway.start import Running, Wanted, gateway
from programsmith.records.trial import Stop
from programsmith.sandboxes.scratch import scratch
from programsmith.sandboxes.shared import shared_root
from programsmith.spec.harnesses import speaks

SEEN = 400
"""Bytes of what an agent wrote that a fault shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """How an agent asks its model: the provider's own name for it, the protocol."""

    model: str
    protocol: str


def asks(harness: Mapping[str, Any], models: Mapping[str, Any], model: str) -> Asks:
    """How a row of rules/agents.yaml asks a model of rules/models.yaml. Raises InputError where it cannot."""
    protocol = speaks(harness, models, model)
    if protocol is None or model not in models["models"]:
        raise InputError(f"model {model}: rules/models.yaml has no such model that speaks {harness['speaks']}")
    return Asks(model=model.partition("/")[2], protocol=protocol)


def most(entry: Mapping[str, Any], rule: Mapping[str, Any]) -> float:
    """Dollars that a trial of a harness may spend: what its entry says, else rules/agents.yaml."""
    stated = entry.get("usd")
    return float(rule["usd"] if stated is None else stated)


@contextmanager
def served(
    model: str, usd: float, rules: Mapping[str, Any], environment: Mapping[str, str], record: Path
) -> Iterator[Running]:
    """A gateway that serves one model for the time of the block. Raises InputError, PrerequisiteError, InfraError."""
    with scratch("gateway", shared_root()) as folder:
        wanted = Wanted(models=(model,), usd=usd or None, folder=folder, record=record)
        with gateway(wanted, rules, environment) as running:
            yield running
            code = running.ended()
        late = running.ended() or 0  # one that gives up may still have been answering
        if code is not None or late > 0:
            code = late if code is None else code
            raise InfraError(f"the model gateway ended with {code} while its agent worked; run again")


def begun(record: Path) -> Path:
    """The record of an attempt, empty: from here on it is known what was spent. Nothing that may fail comes before."""
    record.parent.mkdir(parents=True, exist_ok=True)
    record.touch(mode=0o600)
    return record


def fate(
    account: Account, rule: Mapping[str, Any], stop: Stop, seen: bytes = b"", unreached: float | None = None
) -> Stop:
    """Why the trial ended, by how its last call did; `seen` is what is told where no model ever answered.

    Where the agent's time or money ran out over failures of its provider, the last of these is what ended it.
    `unreached` is when the agent last found no way to its gateway, in seconds since the epoch.
    Raises InfraError where it is none: an agent whose model said nothing did not try, whatever kept it from that.
    """
    failures, last = Failures(rule), account.last
    if (last == CALLED_OFF and stop is Stop.WALL) or failures.trial(last) == "stop":
        last = account.told if failures.trial(account.told) == "infra" else last
    became = failures.trial(last)
    if unreached is not None and unreached >= account.at and became != "stop":
        raise InfraError("the agent's last call of its model found no way to the gateway; run again", again=True)
    match became:
        case "infra":
            after = account.after or 0.0
            wait = f"; the provider asks to wait {after:g} s" if after else ""
            raise InfraError(
                f"the last of {account.calls} calls of the model ended in {last}{wait}; {account.usd:f} usd were spent",
                again=failures.again(str(last)),
                after=after,
            )
        case "stop":
            return Stop.BUDGET
        case _ if not account.ends.get(ANSWERED):
            said = seen[-SEEN:].decode("utf-8", "backslashreplace").strip()
            last = f", the last ended in {account.last}" if account.last else ""
            raise InfraError(
                f"the agent ended ({stop.value}) before a model answered it: {account.calls} calls{last}; "
                f"mend what it says, or install it again. Its last words: {said or 'none'}"
            )
        case _:
            return stop
