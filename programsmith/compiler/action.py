"""Runs one block and publishes what it made.

In: a turn and its slice. Out: `<block>.json`, written last, and the step's artifacts; each appears whole or not at all.
Refuses a word that the step does not say and a missing output (bugs of ours, RuntimeError), and an input that was
edited meanwhile (InfraError): then nothing is published.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

from programsmith.compiler.bought import block_run
from programsmith.compiler.cached import kept
from programsmith.compiler.paths import former, part
from programsmith.compiler.slices import changes
from programsmith.compiler.turn import Turn
from programsmith.errors import InfraError
from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Record

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """A turn's new record, and whether it came from the store."""

    record: Record
    restored: bool


def act(turn: Turn, before: Mapping[str, str]) -> Acted:
    """Take from the store what the turn's block would make, or run it, and publish. `before` decided that it runs.

    Raises InfraError where an input changed meanwhile or the disk is full; whatever the block raises passes.
    """
    with _disk(turn), _log(turn.log) as say, _scratch(turn) as scratch:
        inputs = turn.artifacts()
        job = _job(turn, scratch, say)
        with kept(turn, job, before) as place:
            found = place.restored()
            run = block_run(turn, job, place.key, lambda: _clear(job)) if found is None else nullcontext(found)
            with run as ran:
                _check(turn, ran.outcome, before, say)
                outcome = ran.outcome if found is not None else place.drifted(ran.outcome)
                if found is None:
                    _report_unused(turn, job, say)
                    place.publish(dataclasses.replace(ran, outcome=outcome))
                record = record_of(turn, outcome, inputs, ran.seconds)
                _publish(turn, record)
        return Acted(record=record, restored=found is not None)


def _clear(job: Job) -> None:
    for path in job.outputs.values():
        remove(path)


def _job(turn: Turn, scratch: Path, say: Callable[[str], None]) -> Job:
    project = turn.subject.folder.project
    for path in turn.outputs.values():
        remove(part(path))
        path.parent.mkdir(parents=True, exist_ok=True)
    for shared in (project.store, project.dist):
        shared.mkdir(parents=True, exist_ok=True)
    return turn.job({name: part(path) for name, path in turn.outputs.items()}, scratch, say)


def record_of(turn: Turn, outcome: Outcome, inputs: dict[str, str], seconds: float) -> Record:
    """The record of an answer that was given on `inputs`."""
    return Record(
        block=turn.step.block,
        outcome=outcome.word,
        reason=outcome.reason,
        evidence=outcome.evidence,
        inputs=inputs,
        seconds=round(seconds, 3),
    )


def _check(turn: Turn, outcome: Outcome, before: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Hold the block to its row of the plan, and its inputs to what they were."""
    edited = changes(before, turn.slice())
    if edited:
        say(f"changed while it ran: {', '.join(edited)}")
        raise InfraError(f"{turn.name}: {', '.join(edited)} changed while it ran; nothing was recorded. Run again")
    if outcome.word not in turn.step.says:
        raise RuntimeError(f"{turn.name} said {outcome.word.value!r}; the plan lets it say {turn.step.says}")
    missing = [name for name, path in turn.outputs.items() if not _made(name, part(path))]
    if missing and turn.subject.goes_on(turn.step.block, outcome.word):
        raise RuntimeError(f"{turn.name} said {outcome.word.value!r} and did not write {missing}")


def _made(artifact: str, path: Path) -> bool:
    kind = path.is_dir() if artifact.endswith("/") else path.is_file()
    return kind and not path.is_symlink()


def _report_unused(turn: Turn, job: Job, say: Callable[[str], None]) -> None:
    """Name what the step declares and this run did not read: each needless cause makes needless runs."""
    unused = sorted(set(turn.step.spec) - job.spec.used) + sorted(set(turn.step.rules) - job.rules.used)
    if unused:
        say(f"declared and not read: {', '.join(unused)}")


def _publish(turn: Turn, record: Record) -> None:
    """Artifacts first, the record last; what this run did not make is removed, for it answers another slice."""
    remove(turn.record)
    for path in turn.outputs.values():
        replace(part(path), path)
    turn.record.parent.mkdir(parents=True, exist_ok=True)
    made = part(turn.record)
    codec.dump(made, record)
    replace(made, turn.record)


def replace(made: Path, path: Path) -> None:
    """Put `made` at `path` durably; where nothing was made, remove what is there."""
    if not made.exists():
        remove(path)
        return
    sync(made)
    if path.is_dir() and not path.is_symlink():
        remove(former(path))
        os.rename(path, former(path))
    os.replace(made, path)
    _sync_one(path.parent)
    remove(former(path))


def remove(path: Path) -> None:
    """Remove a file or folder where it is."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Bring a file, or a folder with all below it, to the disk."""
    for root, _, names in os.walk(path):
        for name in names:
            inner = Path(root, name)
            if inner.is_file() and not inner.is_symlink():
                _sync_one(inner)
        _sync_one(Path(root))
    if not path.is_dir():
        _sync_one(path)


def _sync_one(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_full(fault: OSError) -> bool:
    """Whether a disk is full: the fault's own number says so, or that of one among several of a copied folder."""
    if isinstance(fault, shutil.Error) and fault.args and isinstance(fault.args[0], list):
        return any(str(why).startswith(f"[Errno {number}]") for *_, why in fault.args[0] for number in FULL)
    return fault.errno in FULL


@contextmanager
def _disk(turn: Turn) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        folder = turn.subject.folder
        if is_full(fault):
            where = f"the disk that holds {fault.filename or folder.root}"
            raise InfraError(f"{turn.name}: {where} is full. Make room and run again") from fault
        if isinstance(fault, FileNotFoundError) and not folder.root.exists():
            raise InfraError(f"{turn.name}: {folder.root} was removed while it was built. Run again") from fault
        raise


@contextmanager
def _scratch(turn: Turn) -> Iterator[Path]:
    top = turn.subject.folder.scratch
    top.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f"{turn.step.block}.", dir=top))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _log(path: Path) -> Iterator[Callable[[str], None]]:
    """A function that appends lines to a fresh log; threads of the block may call it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="backslashreplace", buffering=1) as out:
        yield lambda line: print(line, file=out)
