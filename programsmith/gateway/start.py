"""Starting and ending the gateway of one trial.

In: the trial's models and budget, rules, an environment that may have keys, a folder of its own. Out: a running gateway
with its socket, and afterwards the account of its record. The process gets nothing by argument, and by environment only
what TLS needs; it ends with the block that started it, or with whoever ran that.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.errors import Exit, InfraError, InputError, PrerequisiteError
from programsmith.gateway.keys import key
from programsmith.gateway.record import Account, account
from programsmith.gateway.terms import providers, terms

RULES = ("models", "gateway", "failures")
TLS = ("SSL_CERT_FILE", "SSL_CERT_DIR")
SOCKET, RECORD = "gateway.sock", "calls.jsonl"
LONGEST = 107
"""Bytes of a unix socket's path that the kernel takes."""
START_SECONDS, END_SECONDS = 60.0, 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a trial's gateway is for. `usd` None: models that cost nothing; `calls` None: the rule's count.

    `folder` is its own, for its owner alone; the record goes to `record`, bodies below `bodies` where it is given.
    """

    models: tuple[str, ...]
    usd: float | None
    folder: Path
    record: Path
    calls: int | None = None
    bodies: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A gateway that answers at `socket`. `ended` tells its exit code, None as long as it runs."""

    socket: Path
    record: Path
    pid: int
    ended: Callable[[], int | None] = lambda: None

    def account(self) -> Account:
        """What its calls come to so far. Raises InfraError on a damaged record."""
        return account(self.record)


@contextmanager
def gateway(wanted: Wanted, rules: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[Running]:
    """Run a gateway for the time of the block.

    `rules` holds those of RULES by name. Raises InputError, PrerequisiteError where it cannot be, InfraError where it
    does not start.
    """
    given = handed(wanted, rules, environment)
    wanted.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted.folder.chmod(0o700)
    socket = Path(given["socket"])
    socket.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "programsmith.gateway"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: environment[name] for name in TLS if name in environment},
        cwd="/",
    )
    try:
        _begin(process, given)
        yield Running(socket=socket, record=wanted.record, pid=process.pid, ended=process.poll)
    finally:
        _finish(process)
        socket.unlink(missing_ok=True)


def handed(wanted: Wanted, rules: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """What the process is handed. Raises InputError, PrerequisiteError."""
    if importlib.util.find_spec("aiohttp") is None:
        raise PrerequisiteError("the model gateway needs aiohttp; run: pip install 'programsmith[gateway]'")
    terms(rules, wanted.models, wanted.usd)
    socket = str(wanted.folder / SOCKET)
    if len(socket.encode()) > LONGEST:
        raise InputError(f"{socket}: wanted a path of at most {LONGEST} bytes for a socket; use a shorter folder")
    serving = providers(rules["models"], wanted.models)
    return {
        "rules": {name: rules[name] for name in RULES},
        "parent": os.getpid(),
        "models": list(wanted.models),
        "usd": wanted.usd,
        "calls": wanted.calls,
        "socket": socket,
        "record": str(wanted.record.absolute()),
        "bodies": str(wanted.bodies.absolute()) if wanted.bodies else None,
        "keys": {name: key(provider.key, environment) for name, provider in serving.items() if provider.key},
    }


def _begin(process: subprocess.Popen[bytes], given: Mapping[str, Any]) -> None:
    """Hand over what is given and wait until it answers. Raises InfraError, InputError."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(given).encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        raise _failed(process) from None
    until = time.monotonic() + START_SECONDS
    if not select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
        raise InfraError(f"the model gateway did not start within {START_SECONDS:g} s")
    if not process.stdout.readline():
        raise _failed(process)


def _failed(process: subprocess.Popen[bytes]) -> InfraError | InputError:
    assert process.stderr is not None
    code = process.wait(END_SECONDS)
    said = process.stderr.read().decode("utf-8", "replace").strip()
    kind = InputError if code == Exit.USAGE else InfraError
    return kind(f"the model gateway did not start: {said or f'it ended with {code}'}")


def _finish(process: subprocess.Popen[bytes]) -> None:
    """End it by the end of its input, and by force where that does not do."""
    try:
        process.communicate(timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
