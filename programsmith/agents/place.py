"""Where an agent works: /app read-only but for /app/submission, a home and a /tmp of its own, no network.

In: a view, the task's files, what else is shown. Out: the plan of a sandbox; entries of what it leaves in
/app/submission. Everything that lay in the tree of the task on the host is copied first, so that no agent reaches it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from programsmith.agents.base import APP, HOME, INSTRUCTION, TMP
from programsmith.payload.verifier.environment import BASE_ENV, SUBMISSION
from programsmith.payload.verifier.launcher import Mount, View
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.plan import ReceiptRule
from programsmith.payload.verifier.tree import write_tree
from programsmith.sandboxes.base import Image, Sandbox, SandboxPlan

SOURCE = b"source"
_PLAIN, _RUNS, _ANY = 0o644, 0o755, 0o777


def lay(folder: Path, app: Iterable[FileEntry], source: Iterable[FileEntry] = ()) -> Path:
    """Write what /app shows to the new `folder`: the task's files, an empty submission, a ceiling trial's source."""
    shown = [FileEntry(SOURCE + b"/" + e.path, e.kind, e.mode, e.content) for e in source]
    write_tree(str(folder), [*app, *shown, FileEntry(b"submission", "dir")])
    return folder


def plan(view: View | Image, app: Path, mounts: tuple[Mount, ...], seed: int, model: str = "") -> SandboxPlan:
    """The sandbox of one attempt. `model` is what a command line is to ask."""
    own = {
        b"HOME": HOME.encode(),
        b"USER": b"agent",
        b"LOGNAME": b"agent",
        b"TMPDIR": TMP.encode(),
        b"INSTRUCTION": INSTRUCTION.encode(),
        b"SEED": str(seed).encode(),
        **({b"MODEL": model.encode()} if model else {}),
    }
    return SandboxPlan(
        view=view,
        workspace=HOME,
        writable=(SUBMISSION,),
        mounts=(Mount(source=str(app), target=APP), *mounts),
        env=tuple({**dict(BASE_ENV), **own}.items()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """A submission as it was left: files, folders and links with plain modes; names of what is none of these."""

    entries: tuple[FileEntry, ...]
    left_out: tuple[str, ...]


def collect(sandbox: Sandbox, rule: ReceiptRule) -> Collected:
    """End every process, then read /app/submission, up to one entry or byte more than a verifier receives.

    What passes a cap of the rule passes it in the artifact too, so the verifier says so in its own words.
    """
    sandbox.end()
    found = sandbox.take(SUBMISSION, max_files=rule.files, max_bytes=rule.bytes, cut=True)
    kept = tuple(_plain(e) for e in found if e.kind != "special")
    odd = [repr(e.path)[2:-1] for e in found if e.kind == "special"]
    past = len(found) > rule.files or sum(len(e.content) for e in found) > rule.bytes
    return Collected(entries=kept, left_out=(*odd, *(["more"] if past else [])))


def _plain(entry: FileEntry) -> FileEntry:
    """The entry with one of the modes that count: two attempts that leave the same text leave the same artifact."""
    if entry.kind == "link":
        return dataclasses.replace(entry, mode=_ANY)
    runs = entry.kind == "dir" or entry.mode & 0o111
    return dataclasses.replace(entry, mode=_RUNS if runs else _PLAIN)
