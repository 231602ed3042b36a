"""The example built from nothing, built again from the store, and built with nothing to do; without a network.

`python benchmarks/rebuild.py [--quick] [--json]`. In: nothing. Out: what bars.py prints; exit code 1 where a bar is
missed. Every build starts from nothing of the rounds before it: a project, a store, keys and a home of its own. As root
the builds run in a network namespace in which there is nothing but a loopback; `network` says whether they do. A build
that does not ship, or in one revision, ends the benchmark. --quick takes one round instead of three.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bars import Answer, idle_cores

from programsmith import __version__
from programsmith.compiler.paths import Project
from programsmith.store.ledger import Kind, Ledger

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
LOOPBACK = (
    "import fcntl, os, socket, struct, sys\n"
    "lo = struct.pack('16sh', b'lo', 0x41)\n"  # up and running
    "with socket.socket() as way:\n    fcntl.ioctl(way, 0x8914, lo)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n"
)
APART = ("unshare", "--net", sys.executable, "-c", LOOPBACK)
RESTORED = re.compile(r"; from the store\]$", re.MULTILINE)
ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Seconds of the three builds; the trials that each of the last two bought; tasks that came from the store."""

    cold: float
    rebuild: float
    null: float
    bought_again: int
    restored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A spec of a project, and what its build must come to."""

    root: Path
    name: str
    outcome: str
    revisions: int


def main() -> int:
    """Measure the example of this checkout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    answer = Answer("rebuild", quick=options.quick, idle=idle_cores())
    rounds = [
        measure(Example(root=ROOT, name="tally", outcome="ship", revisions=2))
        for _ in range(1 if options.quick else ROUNDS)
    ]
    report(rounds, answer)
    return answer.end(as_json=options.json)


def measure(example: Example) -> Round:
    """Build a copy of the project three times. Raises RuntimeError where a build does not come to what it must."""
    with tempfile.TemporaryDirectory(prefix="rebuild-") as folder:
        root = Path(folder) / "project"
        for name in ("specs", "rules"):
            if (example.root / name).is_dir():
                shutil.copytree(example.root / name, root / name)
        env = {"PATH": f"{BIN}:{os.defpath}", "HOME": folder}
        cold, _ = _built(root, example, env)
        first = _bought(root, example.name)
        shutil.rmtree(root / "cache" / example.name)
        rebuild, said = _built(root, example, env)
        null, quiet = _built(root, example, env)
        if "nothing to do" not in quiet:
            raise RuntimeError(f"wanted nothing to do, got: {quiet[-2000:]}")
        again = _bought(root, example.name) - first
    return Round(cold=cold, rebuild=rebuild, null=null, bought_again=again, restored=len(RESTORED.findall(said)))


def report(rounds: list[Round], answer: Answer) -> None:
    """Fill in figures and ratios: medians, and the worst of what must not be."""
    for name in ("cold", "rebuild", "null"):
        answer.figures[f"{name}_seconds"] = round(statistics.median(getattr(one, name) for one in rounds), 2)
    answer.figures["restored"] = min(one.restored for one in rounds)
    answer.figures["bought_again"] = max(one.bought_again for one in rounds)
    answer.figures["network"] = "none" if _apart() else "not cut off: run as root"
    answer.ratios["rebuild_over_cold"] = round(statistics.median(one.rebuild / one.cold for one in rounds), 3)
    answer.ratios["null_over_cold"] = round(statistics.median(one.null / one.cold for one in rounds), 4)
    answer.versions["programsmith"] = __version__


def _apart() -> bool:
    """Whether a command can be run without a network here."""
    return os.geteuid() == 0 and subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0


def _built(root: Path, example: Example, env: Mapping[str, str]) -> tuple[float, str]:
    """Build; seconds and what was said. Raises RuntimeError."""
    command = [*(APART if _apart() else ()), str(BIN / "programsmith"), "build"]
    begun = time.monotonic()
    done = subprocess.run(
        [*command, f"spec={example.name}"], cwd=root, env=env, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - begun
    verdict = root / "cache" / example.name / "verdict.json"
    value = json.loads(verdict.read_bytes()) if verdict.exists() else {"outcome": "none", "revision": -1}
    if value["outcome"] != example.outcome or value["revision"] + 1 < example.revisions:
        raise RuntimeError(
            f"wanted {example.outcome} in {example.revisions} revisions or more, got {value['outcome']} in "
            f"{value['revision'] + 1} (exit code {done.returncode}): {done.stderr[-2000:]}"
        )
    return seconds, done.stderr


def _bought(root: Path, name: str) -> int:
    """Trials that the ledger, which outlives the spec's folder, says were bought."""
    events = Ledger(Project(root).folder(name).ledger).look()
    return sum(event.kind is Kind.SPEND for event in events)


if __name__ == "__main__":
    sys.exit(main())
