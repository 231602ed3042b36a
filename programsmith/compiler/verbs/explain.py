"""`explain`: why each task last ran or would run, as a chain down to what changed; of one task also what it said.

In: specs, or tasks of them. Out: a line per task; of named tasks the chain of tasks that would make their inputs anew,
and the evidence of their records, cut to a screen. JSON is whole. Refuses a task that the spec does not come to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from programsmith.compiler.compile import Compiler
from programsmith.compiler.loader import Asked
from programsmith.compiler.outlook import Kept, Prospect
from programsmith.compiler.verbs.reading import Answer, check_names, looks
from programsmith.records import codec
from programsmith.report.evidence import lines

WORDS = ("spec",)
TASKS = True
SCREEN = 24  # lines of evidence
LINKS = 10  # of a chain
REASONS = 4  # that a line lists


def answer(asked: Asked, names: Sequence[str], compiler: Compiler) -> Answer:
    """Why, of the named tasks or of all. Raises InputError."""
    tasks = [name for name in names if ":" in name]
    specs, text, known = [], [], []
    for found in looks(asked, compiler):
        chain = {p.name: p for p in found.prospects}
        known += list(chain)
        shown = [chain[name] for name in tasks if name in chain] if tasks else list(chain.values())
        error = None if found.fault is None else str(found.fault)
        specs.append({"name": found.name, "error": error, "tasks": [_value(p, chain) for p in shown]})
        if error is not None:
            text.append(f"{found.name}: error: {error}")
        for p in shown:
            text += _whole(p, chain) if tasks else [_why(p)]
    check_names(tasks, known)
    return Answer(value={"specs": specs}, text="\n".join(text))


def _value(p: Prospect, chain: Mapping[str, Prospect]) -> dict[str, Any]:
    return {
        "task": p.name,
        "status": "would_run" if p.would_run else "up_to_date",
        "certain": p.certain or not p.would_run,
        "from_store": p.kept is not Kept.NO,
        "because": [{"cause": c.name, "text": c.text, "task": c.task or None} for c in p.causes],
        "chain": [[depth, name] for depth, name in _chain(p, chain)],
        "depends_on": list(p.depends_on),
        "ran_because": p.ran or None,
        "record": None if p.known is None else codec.encode(p.known),
        "log": str(p.turn.log) if p.turn.log.exists() else None,
    }


def _chain(p: Prospect, chain: Mapping[str, Prospect]) -> Iterator[tuple[int, str]]:
    """Depth and name of each task, once, because of which another one would run, the nearest first."""
    waiting, seen = [(0, p.name)], set()
    while waiting:
        depth, name = waiting.pop(0)
        if name in seen or name not in chain:
            continue
        seen.add(name)
        yield depth, name
        waiting[:0] = [(depth + 1, c.task) for c in chain[name].causes if c.task and not chain[name].certain]


def _whole(p: Prospect, chain: Mapping[str, Prospect]) -> Iterator[str]:
    links = list(_chain(p, chain))
    for depth, name in links[:LINKS]:
        yield f"{'  ' * depth}{_why(chain[name])}"
    if len(links) > LINKS:
        yield f"… {len(links) - LINKS} more tasks; --json has them all"
    if p.depends_on:
        yield f"whether it is reached depends on {', '.join(p.depends_on)}"
    if p.known is None:
        yield "it has no record"
        return
    yield f"it said {p.known.outcome.value} after {p.known.seconds:.1f} s: {p.known.reason}"
    yield from lines(p.known.evidence, SCREEN)
    here = os.path.relpath(p.turn.record)
    yield f"record: {here}" + (f"   log: {os.path.relpath(p.turn.log)}" if p.turn.log.exists() else "")


def _why(p: Prospect) -> str:
    ran = f"; it last ran because: {p.ran}" if p.ran else ""
    if not p.would_run:
        return f"{p.name} is up to date{ran}"
    own = [c.text for c in p.causes if not c.task] or [c.text for c in p.causes]
    store = {Kept.NO: "", Kept.LIKELY: "; likely taken from the store", Kept.SURE: "; taken from the store"}[p.kept]
    more = f" and {len(own) - REASONS} more reasons" if len(own) > REASONS else ""
    return f"{p.name} would run: {', '.join(own[:REASONS])}{more}{store}"
