"""The engine with nothing to do, beside GNU make, ninja and snakemake on the same fleet.

`python benchmarks/engine.py [--quick] [--json] [--specs N] [--keep FOLDER]`. In: nothing. Out: what bars.py prints;
exit code 1 where a bar is missed. Before anything is timed, every tool must find nothing to do, and one changed source
file must make exactly its spec dirty in each. --quick takes fewer specs and rounds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bars import MISSING, Answer, Run, idle_cores, median, paired, ratio
from fleet import OLD, Fleet, Size, lay
from rivals import Rival, rivals, write_files

from programsmith import __version__
from programsmith.compiler.compile import Compiler
from programsmith.compiler.early import known_footing, known_specs
from programsmith.compiler.stamping import Stamps

SLOW = "snakemake"
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many specs, how many of them snakemake gets; rounds of short commands and of builds of all specs."""

    specs: int
    few: int
    short: int
    long: int


QUICK, WHOLE = Plan(specs=64, few=8, short=5, long=3), Plan(specs=1000, few=1000, short=15, long=5)


def main() -> int:
    """Lay the fleet down, prove it, measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few specs and rounds, at most 40 seconds")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--specs", type=int, help="so many specs")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="lay the fleet down there and leave it")
    options = parser.parse_args()
    plan = QUICK if options.quick else WHOLE
    if options.specs:
        plan = replace(plan, specs=options.specs, few=min(plan.few, options.specs))
    with tempfile.TemporaryDirectory(prefix="programsmith-fleet.") as folder:
        root = options.keep or Path(folder)
        root.mkdir(exist_ok=True)
        answer = Answer("engine", quick=options.quick)
        fleet = lay(root, {f"spec{number:04}": "ship" for number in range(plan.specs)}, Size())
        found = rivals()
        prove(fleet, fleet.names[: plan.few], found)
        before = idle_cores()
        measure(fleet, found, plan, answer)
        answer.idle = min(before, idle_cores())
    return answer.end(as_json=options.json)


def prove(fleet: Fleet, few: Sequence[str], found: Mapping[str, Rival | None]) -> None:
    """Every tool takes the fleet for up to date, and finds the one of which a file changes. Raises RuntimeError."""
    root = fleet.project.root
    write_files(fleet, few)
    first = subprocess.run([BIN / "programsmith", "build"], cwd=root, capture_output=True, text=True, check=False)
    quiet = first.stderr.count("  nothing to do: ")
    if first.returncode or quiet != len(fleet.names):
        raise RuntimeError(f"the engine found {quiet} of {len(fleet.names)} specs up to date: {first.stderr[-2000:]}")
    dirty: dict[str, Callable[[], set[str]]] = {"programsmith": lambda: _dirty(fleet)}
    dirty |= {name: lambda rival=rival: rival.dirty(root) for name, rival in found.items() if rival}  # type: ignore[misc]
    _expect(dirty, set())
    name = few[len(few) // 2]
    path = root / "specs" / name / "part007.py"
    content = path.read_bytes()
    path.write_bytes(content[::-1])
    _expect(dirty, {name})
    path.write_bytes(content)
    os.utime(path, (OLD, OLD))
    subprocess.run([BIN / "programsmith", "build"], cwd=root, capture_output=True, check=True)
    _expect(dirty, set())


def _expect(dirty: Mapping[str, Callable[[], set[str]]], wanted: set[str]) -> None:
    for tool, ask in dirty.items():
        got = ask()
        if got != wanted:
            raise RuntimeError(f"{tool}: wanted {sorted(wanted) or 'nothing'} dirty, got {sorted(got)[:5]}")


def _dirty(fleet: Fleet) -> set[str]:
    """Specs without a stamp that holds, in which a look at everything finds something to do."""
    root = str(fleet.project.root)
    footing = known_footing(root)
    if footing is None:
        return set(fleet.names)
    files = {str(fleet.project.root / "specs" / f"{name}.yaml"): name for name in fleet.names}
    known = known_specs(root, footing.fields[0], list(files))
    stamps = Stamps(Compiler(), fleet.project)
    return {name for path, name in files.items() if path not in known and stamps.look(Path(path)) is None}


def measure(fleet: Fleet, found: Mapping[str, Rival | None], plan: Plan, answer: Answer) -> None:
    """Fill in figures, ratios and versions."""
    root = fleet.project.root
    answer.versions = {"programsmith": __version__, **{n: r.version() if r else MISSING for n, r in found.items()}}
    answer.figures |= {"specs": len(fleet.names), "tasks": len(fleet.nodes), "files": fleet.files}
    one = f"spec={fleet.names[len(fleet.names) // 2]}"
    short = {
        "python": [sys.executable, "-c", "pass"],
        "one_of_1000": [str(BIN / "programsmith"), "build", one],
        "version": [str(BIN / "doit"), "--version"],
        "doit_one_of_1000": [str(BIN / "doit"), "build", one],
    }
    runs = paired(short, root, plan.short)
    _figures(answer, runs)
    answer.ratios["one_of_1000_vs_python"] = ratio(runs["one_of_1000"], runs["python"])
    answer.ratios["one_of_1000_vs_version"] = ratio(runs["doit_one_of_1000"], runs["version"])
    tools = {name: rival.command() for name, rival in found.items() if rival}
    slow = {name: tools.pop(name) for name in (SLOW,) if name in tools}
    build = [str(BIN / "programsmith"), "build"]
    few = [*build, f"spec={','.join(fleet.names[: plan.few])}"]
    runs = paired({"null_1000": build, **tools}, root, plan.long)
    runs |= paired({"null_few": few, **slow}, root, min(3, plan.long))
    _figures(answer, runs)
    answer.figures["few"] = plan.few
    for name in found:
        answer.ratios[f"null_1000_vs_{name}"] = _against(name, runs)


def _against(name: str, runs: Mapping[str, list[Run]]) -> float | str:
    """This engine over a tool; the slow tool over this engine, for its bar is how much slower it is."""
    if name not in runs:
        return MISSING
    return ratio(runs[name], runs["null_few"]) if name == SLOW else ratio(runs["null_1000"], runs[name])


def _figures(answer: Answer, runs: Mapping[str, list[Run]]) -> None:
    for name, each in runs.items():
        middle = median(each)
        answer.figures[f"{name}_ms"] = round(middle.wall, 1)
        answer.figures[f"{name}_cpu_ms"] = round(middle.cpu, 1)


if __name__ == "__main__":
    sys.exit(main())
