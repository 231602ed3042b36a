"""What every block of the mill does: some time, a child process, outputs made in two halves, lines in a journal.

The journal lies beside the specs: `begin TASK PID`, `torn TASK INPUT` where an input is not whole, `end TASK`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path

from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word

SECONDS = 0.1
LAST = "whole\n"
ENDS = (LAST, "}\n")


def labour(job: Job, block: str, word: Word = Word.PASS, **evidence: object) -> Outcome:
    """Work; every output tells the inputs that it is made of."""
    task = f"{block}:{job.trial.name}" if job.trial else block
    sleeper = subprocess.Popen(["/bin/sleep", "300"])
    try:
        _note(job, f"begin {task} {_identity(job, evidence)} {sleeper.pid}")
        made = hashlib.sha256(
            repr([task, *(_read(job, task, name) for name in sorted(job.inputs))]).encode()
        ).hexdigest()
        (job.scratch / "dust").write_text("dust")
        for name, path in job.outputs.items():
            _write(path, made, folder=name.endswith("/"))
        time.sleep(SECONDS / 2)
        _note(job, f"end {task}")
    finally:
        sleeper.kill()
        sleeper.wait()
    return Outcome(word=word, reason=made[:8], evidence=dict(evidence))


def _identity(job: Job, evidence: dict[str, object]) -> str:
    """What the action depends on, as a short digest."""
    seen: list[object] = [(name, _content(path)) for name, path in sorted(job.inputs.items())]
    seen += [(name, record) for name, record in sorted(job.records.items())]
    seen += [(trial.name, trial.batch) for trial in job.trials]
    return hashlib.sha256(repr([seen, evidence]).encode()).hexdigest()[:12]


def _content(path: Path) -> list[str]:
    return [p.read_text() for p in sorted(path.iterdir())] if path.is_dir() else [path.read_text()]


def _write(path: Path, text: str, *, folder: bool) -> None:
    if folder:
        path.mkdir()
    places = [path / f"{n}.txt" for n in range(5)] if folder else [path]
    for place in places:
        with place.open("w") as out:
            out.write(text + "\n")
            out.flush()
            time.sleep(SECONDS / 2 / len(places))
            out.write(LAST)


def _read(job: Job, task: str, name: str) -> list[str]:
    texts = _content(job.inputs[name])
    if not all(text.endswith(ENDS) for text in texts) or (name.endswith("/") and len(texts) != 5):
        _note(job, f"torn {task} {name}")
    return texts


def _note(job: Job, line: str) -> None:
    handle = os.open(job.project / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, line.encode() + b"\n")
    os.close(handle)
