"""Answers queries beside an agent's container: what the service `reference` of an exported task starts.

In: the sealed original and how launches are isolated here, both beside this program; the owner's secret from the
environment where he sealed it. Out: a socket, once isolation is proven and the original was started; in /logs/reference
queries.jsonl, a line for each query, and sums.json, which is right before a query runs that it counts. Whatever ends
this program, the engine starts it again, and what was used up stays so. Ends with 2 where it cannot answer here: then
the container is never healthy, and no agent starts.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from typing import Any

from programsmith.payload.query.desk import NOTHING, Desk
from programsmith.payload.query.given import Given, decode_given, laid
from programsmith.payload.query.original import BrokenError, Original
from programsmith.payload.query.wire import SOCKET
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.launcher import LauncherError
from programsmith.payload.verifier.model import canonical
from programsmith.payload.verifier.uid import UidLauncher, spread
from programsmith.payload.verifier.unseal import SealError, decode_seal, refuse_dumps, take_secret, unseal

LOGS = "/logs/reference"
QUERIES, SUMS = "queries.jsonl", "sums.json"
SEALED, NOTE, PLACES = "original.sealed", "seal.json", "environment.json"
"""Files beside this program."""
CANNOT = 2


def main() -> int:
    """Answer until told to end; the exit code."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    for left in glob.glob(f"{SOCKET}*"):  # of a run before this one: nothing is there until somebody answers
        os.unlink(left)
    try:
        given, config = read(os.path.dirname(os.path.abspath(sys.argv[0])))
        with contextlib.closing(UidLauncher(config)) as launcher:
            launcher.probe()
            shutil.rmtree(ORACLE, ignore_errors=True)
            original = laid(given, ORACLE, launcher)
            original.require_host()
            original.require_known(given.known)
            serve(original, given, SOCKET, LOGS, ended)
    except (SealError, LauncherError, BrokenError, OSError, ValueError, KeyError, TypeError) as fault:
        print(f"reference: nobody can be answered here: {type(fault).__name__}: {fault}", file=sys.stderr)
        return CANNOT
    return 0


def read(folder: str) -> tuple[Given, dict[str, Any]]:
    """What is given, opened, and the launcher's config with users of its own. Raises SealError, OSError, ValueError."""
    secret = take_secret()
    refuse_dumps()
    raw = {name: _content(os.path.join(folder, name)) for name in (SEALED, NOTE, PLACES)}
    config: dict[str, Any] = json.loads(raw[PLACES])
    spread((config,))
    return decode_given(unseal(raw[SEALED], decode_seal(raw[NOTE]), secret)), config


def serve(original: Original, given: Given, path: str, logs: str, ended: threading.Event) -> None:
    """Answer whoever connects at `path` until `ended`; what was told before in `logs` still counts. Raises OSError."""
    os.makedirs(logs, exist_ok=True)
    with open(os.path.join(logs, QUERIES), "ab", buffering=0) as rows, bound(path) as listener:
        desk = Desk(
            listener,
            original.answer,
            given.meter,
            tell=lambda row: _append(rows.fileno(), canonical(row) + b"\n"),
            keep=lambda sums: keep(logs, sums),
            kept=kept(logs),
        )
        keep(logs, desk.sums())
        desk.open()
        try:
            ended.wait()
        finally:
            os.unlink(path)
            desk.close()


def bound(path: str) -> socket.socket:
    """A listening socket at `path`, whatever a process before this one left there. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    beside = f"{path}.{os.getpid()}"
    try:
        listener.bind(beside)
        os.chmod(beside, 0o666)  # noqa: S103 - the agent is another user
        listener.listen(128)
        os.rename(beside, path)  # where it is found, it answers
    except BaseException:
        listener.close()
        raise
    return listener


def keep(logs: str, sums: Mapping[str, Any]) -> None:
    """Write the sums so that they are whole whenever they are read. Raises OSError."""
    beside = os.path.join(logs, f".{SUMS}")
    with open(beside, "wb") as out:
        out.write(canonical(sums) + b"\n")
    os.replace(beside, os.path.join(logs, SUMS))


def kept(logs: str) -> Mapping[str, Any]:
    """The sums of whoever answered before. Raises OSError, ValueError."""
    try:
        found: Mapping[str, Any] = json.loads(_content(os.path.join(logs, SUMS)))
    except FileNotFoundError:
        return NOTHING
    return found


def _content(path: str) -> bytes:
    with open(path, "rb") as source:
        return source.read()


def _append(out: int, line: bytes) -> None:
    """One line at the end, whole but for a full disk. Raises OSError."""
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(out, rest) :]
