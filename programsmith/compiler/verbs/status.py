"""`status`: where each spec stands.

In: specs. Out: per spec the outcome of its last finished build and whether that is current, revision and batch, the
block that answered last, what is stale, whether a build runs and at what, which reservations are held, what a killed
build left. One line each; more where one was asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from programsmith.compiler.compile import NEVER, STALE, Compiler
from programsmith.compiler.leftovers import running
from programsmith.compiler.loader import Asked
from programsmith.compiler.outlook import Outlook, Prospect
from programsmith.compiler.passes import outcome_of
from programsmith.compiler.paths import Folder
from programsmith.compiler.verbs.reading import Answer, looks, short
from programsmith.errors import InfraError
from programsmith.records import codec
from programsmith.report.table import columns
from programsmith.store.ledger import Ledger, account_of

WORDS = ("spec",)
TASKS = False
FEW = 3  # stale tasks that a line names


def answer(asked: Asked, names: Sequence[str], compiler: Compiler) -> Answer:
    """How each spec stands. Raises InputError."""
    del names
    specs = [_spec(found, asked.project.folder(found.name)) for found in looks(asked, compiler)]
    text = "\n".join(columns([_line(spec) for spec in specs]))
    if asked.named and len(specs) == 1:
        text = "\n".join([text, *_details(specs[0])])
    return Answer(value={"specs": specs}, text=text)


def _spec(found: Outlook, folder: Folder) -> dict[str, Any]:
    stale = [p.name for p in found.prospects if p.would_run]
    said = [p for p in found.prospects if p.known is not None]
    last = said[-1] if said else None
    outcome = outcome_of(folder.verdict)
    place = folder.exported(outcome)
    pid = running(folder)
    return {
        "name": found.name,
        "error": None if found.fault is None else str(found.fault),
        "outcome": outcome or None,
        "current": bool(outcome) and not stale and found.fault is None,
        "revision": last.turn.spot.revision if last else None,
        "batch": max((b for p in said if (b := _batch(p, last)) is not None), default=None),
        "last": {"task": last.name, "said": last.known.outcome.value} if last and last.known else None,
        "stale": stale,
        "tasks": len(found.prospects),
        "running": {"pid": pid, "blocks": _at_work(folder)} if pid else None,
        "interrupted": pid is None and folder.run.exists(),
        **_money(folder),
        "where": str(place) if outcome and place.is_dir() else None,
    }


def _batch(p: Prospect, last: Prospect | None) -> int | None:
    """The batch of a task of the last revision."""
    return p.turn.spot.batch if last and p.turn.spot.revision == last.turn.spot.revision else None


def _at_work(folder: Folder) -> list[str]:
    """Blocks that run now, by the folders that they work in."""
    try:
        return sorted(name.partition(".")[0] for name in os.listdir(folder.scratch))
    except OSError:
        return []


def _money(folder: Folder) -> dict[str, Any]:
    try:
        account = account_of(Ledger(folder.ledger).look())
    except InfraError as fault:
        return {"spent": None, "held": [], "ledger": str(fault)}
    return {"spent": float(account.spent), "held": [codec.encode(event) for event in account.held], "ledger": None}


def _line(spec: dict[str, Any]) -> list[str]:
    if spec["error"]:
        return [spec["name"], "error", "; ".join([spec["error"], *_former(spec)])]
    at = "" if spec["revision"] is None else f"r{spec['revision']}"
    at += "" if spec["batch"] is None else f":b{spec['batch']}"
    last = f"{short(spec['last']['task'])} said {spec['last']['said']}" if spec["last"] else ""
    stands = spec["outcome"] if spec["current"] else STALE if spec["outcome"] else NEVER
    return [spec["name"], stands, at, last, "; ".join(_notes(spec))]


def _former(spec: dict[str, Any]) -> Iterator[str]:
    """What an outcome is worth that is not current."""
    if spec["outcome"] and not spec["current"]:
        yield f"the last finished build said {spec['outcome']}"


def _notes(spec: dict[str, Any]) -> Iterator[str]:
    stale = [short(name) for name in spec["stale"]]
    if spec["running"]:
        at = ", ".join(spec["running"]["blocks"])
        yield f"a build runs, pid {spec['running']['pid']}" + (f", at {at}" if at else "")
    if spec["interrupted"]:
        yield "a build was killed; the next one goes on"
    yield from _former(spec)
    if spec["last"] is None:
        yield f"{len(stale)} tasks to run"
    elif stale:
        yield f"{len(stale)} of {spec['tasks']} stale: {', '.join(stale[:FEW])}{', …' if len(stale) > FEW else ''}"
    else:
        yield "up to date"
    if spec["held"]:
        yield f"{len(spec['held'])} reservations held, {sum(event['usd'] for event in spec['held']):g} usd"
    if spec["ledger"]:
        yield spec["ledger"]


def _details(spec: dict[str, Any]) -> Iterator[str]:
    if spec["where"]:
        yield f"  exported to {spec['where']}"
    if spec["spent"]:
        yield f"  spent {spec['spent']:g} usd"
    for event in spec["held"]:
        yield f"  held {event['usd']:g} usd for {event['task']}, id {event['id']}; close it: programsmith settle"
    if spec["stale"] and spec["last"]:
        yield f"  why it is stale: programsmith explain spec={spec['name']}"
