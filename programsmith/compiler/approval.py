"""What a person accepted: cache/<name>/approved.json maps a block to the proposal that it parked with.

In: a spec's folder, a block. Out: the approvals. Refuses (InputError) a block that parks nowhere or has not parked. An
approval names what was proposed, so it is void as soon as the block proposes something else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from programsmith.compiler.paths import BEFORE, Folder, Spot, part
from programsmith.compiler.plan import Step
from programsmith.errors import InputError
from programsmith.records import codec
from programsmith.records.outcome import Record, Word
from programsmith.rulebook.fault import suggest

PARKING = ("pick", "gate")


def approvals(folder: Folder) -> dict[str, str | None]:
    """Block to accepted proposal, None where there is none; a file that cannot be read accepts nothing."""
    try:
        found = codec.load(folder.approved, dict[str, str])
    except (OSError, ValueError, TypeError, AttributeError):
        found = {}
    return {block: found.get(block) for block in PARKING}


def approve(folder: Folder, steps: Sequence[Step], block: str) -> None:
    """Accept what `block` proposed when it parked. Accepting it once more changes nothing. Raises InputError."""
    if block not in PARKING:
        raise InputError(f"approve={block}: wanted a block that parks; {suggest(block, PARKING, 'those are')}")
    per_revision = next(step.per_revision for step in steps if step.block == block)
    try:
        record = codec.load(folder.record(block, Spot(_revision(folder)) if per_revision else BEFORE), Record)
    except (OSError, ValueError, TypeError, KeyError):
        record = None
    known = approvals(folder)
    if record is None or record.outcome is not Word.PARKED or "proposal" not in record.evidence:
        if known[block] is not None:
            return
        name = folder.name
        raise InputError(
            f"approve={block}: wanted a build of `{name}` that parked at {block}, got none; review: [{block}] parks it"
        )
    kept = {name: what for name, what in known.items() if what is not None}
    made = part(folder.approved)
    codec.dump(made, {**kept, block: record.evidence["proposal"]})
    os.replace(made, folder.approved)


def _revision(folder: Folder) -> int:
    """The revision that the last verdict is about; 0 where there is none."""
    try:
        return int(codec.load(folder.verdict, dict)["revision"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0
