"""Ore -> a folder of clean ore. The trouble that the spec describes happens here."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from programsmith.errors import InfraError
from programsmith.job import Job
from programsmith.records.outcome import Outcome, Word
from toyforge.assay import refine


def run(job: Job) -> Outcome:
    """Wash."""
    soap = job.rules("soap")
    clean = job.outputs["r/clean/"]
    clean.mkdir()
    for number, piece in enumerate(refine(job.inputs["ore.txt"].read_text()).split()):
        (clean / f"{number}.txt").write_text(f"{soap['kind']} {piece}\n")
    (job.scratch / "water").write_text("wet")
    _suffer(job, job.spec("description", str))
    job.outputs["r/count.json"].write_text("{}")
    return Outcome(word=Word.PASS, reason="washed")


def _wait(path: Path) -> None:
    """Wait a minute, or until the file is there."""
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)


def _suffer(job: Job, trouble: str) -> None:
    match trouble:
        case "killed" | "deaf":
            (job.project / "started").write_text("")
            os.kill(os.getpid(), signal.SIGKILL if trouble == "killed" else signal.SIGSTOP)
        case "slow":
            (job.project / "started").write_text("")
            _wait(job.project / "go")
        case "infra":
            raise InfraError("the water is off; open the tap")
        case "bug":
            raise ZeroDivisionError("soap / 0")
        case "input_edited":
            (job.project / "rules" / "soap.yaml").write_text("kind: other\n")
        case "undeclared":
            job.rules("weights")
        case "forgets_output":
            (job.outputs["r/clean/"]).rename(job.scratch / "lost")
        case _:
            pass
