"""`report`: the verdict of a spec and everything that it rests on, as text or whole as JSON.

In: specs. Out: what their records say. A spec without a verdict tells what it has; a stale one says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from programsmith.compiler.compile import Compiler
from programsmith.compiler.loader import Asked
from programsmith.compiler.outlook import Outlook, Prospect
from programsmith.compiler.passes import outcome_of
from programsmith.compiler.paths import Folder, Spot
from programsmith.compiler.verbs.reading import Answer, looks
from programsmith.records import codec
from programsmith.records.outcome import Record
from programsmith.records.revision import Lineage
from programsmith.records.verdict import Verdict
from programsmith.report.found import Revision, Spending, found
from programsmith.report.text import text
from programsmith.rulebook.fault import shown
from programsmith.store.ledger import Ledger
from programsmith.verdict.routes import Go

WORDS = ("spec",)
TASKS = False


def answer(asked: Asked, names: Sequence[str], compiler: Compiler) -> Answer:
    """The report of each spec. Raises InputError, InfraError on a damaged ledger."""
    del names
    specs = [_spec(seen, asked.project.folder(seen.name)) for seen in looks(asked, compiler)]
    return Answer(value={"specs": specs}, text="\n\n".join(map(text, specs)))


def _spec(seen: Outlook, folder: Folder) -> dict[str, Any]:
    revisions = list(_revisions(seen))
    number = revisions[-1].number if revisions else 0
    events = [Spending(task=e.task, kind=e.kind.value, id=e.id, usd=e.usd) for e in Ledger(folder.ledger).look()]
    return {
        "name": seen.name,
        "error": None if seen.fault is None else str(seen.fault),
        "verdict": codec.encode(_loaded(folder.verdict, Verdict)),
        "stale": [p.name for p in seen.prospects if p.would_run and p.known is not None],
        **found(revisions, _loaded(folder.artifact("r/ops.json", Spot(number)), Lineage) or Lineage(), events),
        "paths": _paths(folder, number),
    }


def _revisions(seen: Outlook) -> Iterator[Revision]:
    """The records that there are, revision by revision; those before any belong to the first."""
    by: dict[int, dict[str, Record]] = {}
    decided: dict[int, str] = {}
    for p in seen.prospects:
        number = p.turn.spot.revision or 0
        if p.known is None or p.turn.step.per_trial:
            continue
        by.setdefault(number, {})[p.turn.step.block] = p.known
        if number not in decided and _ends(p):
            decided[number] = p.turn.step.block
    yield from (Revision(number=n, records=records, decided=decided.get(n)) for n, records in sorted(by.items()))


def _ends(p: Prospect) -> bool:
    """Whether the task said what ended its revision."""
    assert p.known is not None
    try:
        go = p.turn.subject.route(p.turn.step.block, p.known.outcome)
    except KeyError:
        return False
    return p.turn.step.closes or (not p.turn.step.revises and go not in {Go.CONTINUE, Go.MORE})


def _paths(folder: Folder, number: int) -> dict[str, str | None]:
    """Where the environment is, from the project's root."""
    root = folder.project.root
    outcome = outcome_of(folder.verdict)
    places = {
        "exported": folder.exported(outcome) if outcome else None,
        "bundle": folder.artifact("r/bundle/", Spot(number)),
        "environments": folder.artifact("r/environments.json", Spot(number)),
        "records": folder.root,
        "ledger": folder.ledger,
    }
    return {name: shown(path, root) if path and path.exists() else None for name, path in places.items()}


def _loaded(path: Path, kind: type[Any]) -> Any:
    try:
        return codec.load(path, kind)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
