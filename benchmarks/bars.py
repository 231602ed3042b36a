"""What every benchmark does alike: paired runs, facts of the machine, the answer as one object held to its bars.

In: commands, figures. Out: milliseconds of each run; a JSON object or lines on stdout; an exit code, 1 where a figure
misses its bar of rules/bars.yaml.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from programsmith.rulebook.load import Rulebook

MISSING = "missing"
IDLE_CORES = 1.8
"""Of two cores: so much must be idle before and after a run that judges absolute figures."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a command took, in milliseconds: by the clock, and of processor time with all children."""

    wall: float
    cpu: float


def run(command: Sequence[str], where: Path, codes: Sequence[int] = (0,)) -> Run:
    """Run a command without input and output. Raises RuntimeError where it ends with another code."""
    started = time.perf_counter()
    running = subprocess.Popen(
        command, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert running.stderr is not None
    with running.stderr as pipe:
        said = pipe.read()
    _, status, usage = os.wait4(running.pid, 0)
    wall = time.perf_counter() - started
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in codes:
        raise RuntimeError(f"{' '.join(command)} ended with {running.returncode}: {os.fsdecode(said[-2000:])}")
    return Run(wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000)


def paired(commands: Mapping[str, Sequence[str]], where: Path, rounds: int) -> dict[str, list[Run]]:
    """Runs of each command, one after the other in every round, so that all meet the same machine."""
    found: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(run(command, where))
    return found


def median(runs: Sequence[Run]) -> Run:
    """Medians of both."""
    return Run(statistics.median(r.wall for r in runs), statistics.median(r.cpu for r in runs))


def ratio(over: Sequence[Run], under: Sequence[Run]) -> float:
    """The median of the rounds' ratios, by the clock."""
    return round(statistics.median(a.wall / b.wall for a, b in zip(over, under, strict=True)), 3)


def idle_cores(seconds: float = 1.0) -> float:
    """How many processors had nothing to do for so long."""
    before = _idle_ticks()
    time.sleep(seconds)
    return (_idle_ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds


def _idle_ticks() -> int:
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return int(fields[4]) + int(fields[5])


def machine() -> dict[str, Any]:
    """Facts that figures depend on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


@dataclass(slots=True)
class Answer:
    """What a benchmark found: figures and ratios by name, versions, and for each bar whether it holds."""

    benchmark: str
    quick: bool
    figures: dict[str, Any] = field(default_factory=dict)
    ratios: dict[str, float | str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    idle: float = 0.0

    def verdicts(self) -> dict[str, bool | str]:
        """Bar to whether it holds; `missing`, or why it is not judged."""
        bars = Rulebook(None).load("bars")[self.benchmark]
        return {name: self._judged(name, bar) for name, bar in bars.items()}

    def _judged(self, name: str, bar: Mapping[str, Any]) -> bool | str:
        figure = {**self.figures, **self.ratios}.get(name, MISSING)
        if isinstance(figure, str):
            return figure
        if bar["absolute"] and self.idle < IDLE_CORES:
            return f"not judged: {self.idle:.1f} cores were idle"
        return bool(bar.get("least", figure) <= figure <= bar.get("most", figure))

    def end(self, *, as_json: bool) -> int:
        """Print the answer and give the exit code."""
        verdicts = self.verdicts()
        passed = False not in verdicts.values()
        whole = {
            "benchmark": self.benchmark,
            "quick": self.quick,
            "figures": self.figures,
            "ratios": self.ratios,
            "versions": self.versions,
            "machine": {**machine(), "idle_cores": round(self.idle, 2)},
            "bars": verdicts,
            "pass": passed,
        }
        print(json.dumps(whole, indent=1) if as_json else "\n".join(_lines(whole)))
        return 0 if passed else 1


def _lines(whole: Mapping[str, Any]) -> list[str]:
    rows = [f"{name:<32} {value}" for name, value in {**whole["figures"], **whole["ratios"]}.items()]
    held = [f"{name:<32} {verdict}" for name, verdict in whole["bars"].items()]
    return [*rows, "", *held, "", f"pass: {whole['pass']}"]
