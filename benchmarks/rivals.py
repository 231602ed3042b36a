"""The fleet's graph in the words of other tools: GNU make, ninja, snakemake.

In: a fleet. Out: their files in its folder; for each tool the command of a build with nothing to do, and of a dry run
whose lines name the specs that are dirty. make and ninja watch every file that the engine watches among sources,
rules and artifacts. snakemake, which has no chance with so many files, watches a folder as one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet import Fleet, Node

SAYS = "dirty-spec"
"""What a dry run writes before the name of a spec that is to be built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A tool: its program, the arguments of a build, those of a dry run."""

    name: str
    program: str
    build: tuple[str, ...]
    dry: tuple[str, ...]

    def command(self) -> list[str]:
        """A build with nothing to do."""
        return [self.program, *self.build]

    def dirty(self, root: Path) -> set[str]:
        """The specs that a dry run would build."""
        done = subprocess.run([self.program, *self.dry], cwd=root, capture_output=True, text=True, check=True)
        return set(re.findall(rf"{SAYS} (\w+)", done.stdout + done.stderr))

    def version(self) -> str:
        """The first line of what it calls its version."""
        done = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[0]


def rivals() -> dict[str, Rival | None]:
    """The tools by name, None for one that is not installed."""
    wanted = (
        Rival(name="make", program="make", build=("-s",), dry=("-n",)),
        Rival(name="ninja", program="ninja", build=("--quiet",), dry=("-n", "-v")),
        Rival(name="snakemake", program="snakemake", build=("-c1", "-q"), dry=("-n", "-p", "-q", "progress")),
    )
    found = {rival.name: _program(rival.program) for rival in wanted}
    return {r.name: Rival(**{**_fields(r), "program": found[r.name]}) if found[r.name] else None for r in wanted}


def _fields(rival: Rival) -> dict[str, object]:
    return {name: getattr(rival, name) for name in rival.__slots__}


def _program(name: str) -> str | None:
    """The program beside this interpreter, or on the path."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def write_files(fleet: Fleet, few: Sequence[str]) -> None:
    """Write Makefile, build.ninja and Snakefile into the fleet's folder; snakemake's is about a `few` of the specs."""
    root = fleet.project.root
    (root / "Makefile").write_text("\n".join(["MAKEFLAGS += -rR", *_make(fleet)]) + "\n")
    (root / "build.ninja").write_text("\n".join(_ninja(fleet)) + "\n")
    (root / "Snakefile").write_text("\n".join(_snakemake(fleet, few)) + "\n")


def _ends(nodes: Sequence[Node]) -> list[str]:
    """Files that no task reads: what a build is asked for."""
    read = {path for node in nodes for path in node.reads}
    return [path for node in nodes for path in node.writes if path not in read]


def _make(fleet: Fleet) -> list[str]:
    """A task's first file stands for it; the others follow from it, which costs make less than grouped targets do."""
    lines = [f"all: {' '.join(_ends(fleet.nodes))}"]
    for node in fleet.nodes:
        first, *others = node.writes
        lines += [f"{first}: {' '.join(node.reads)}", f"\t@echo {SAYS} {node.spec}"]
        lines += [f"{' '.join(others)}: {first} ;"] if others else []
    return lines


def _ninja(fleet: Fleet) -> list[str]:
    """`generator` lets it judge by times alone, for no log says how the files were made."""
    lines = ["rule step", f"  command = echo {SAYS} $spec", "  generator = 1"]
    for node in fleet.nodes:
        lines += [f"build {' '.join(node.writes)}: step {' '.join(node.reads)}", f"  spec = {node.spec}"]
    return [*lines, f"build all: phony {' '.join(_ends(fleet.nodes))}", "default all"]


def _snakemake(fleet: Fleet, names: Sequence[str]) -> list[str]:
    """One rule for each task of a spec, which all specs share."""
    spec = names[0]
    nodes = [node for node in fleet.nodes if node.spec == spec]
    folders = [folder for node in nodes for folder in node.folders]

    def short(paths: Sequence[str]) -> list[str]:
        within = (next((f for f in folders if path.startswith(f + "/")), path) for path in paths)
        return [path.replace(spec, "{spec}") for path in dict.fromkeys(within)]

    read = {path for node in nodes for path in short(node.reads)}
    ends = [path for node in nodes for path in short(node.writes) if path not in read]
    lines = [f"SPECS = {list(names)!r}", "rule all:", f"  input: expand({ends!r}, spec=SPECS)"]
    for node in nodes:
        folded = {folder.replace(spec, "{spec}") for folder in node.folders}
        writes = [f"directory({path!r})" if path in folded else repr(path) for path in short(node.writes)]
        lines += [
            f"rule {re.sub('[^a-z0-9]', '_', node.name)}:",
            f"  input: {short(node.reads)!r}",
            f"  output: {', '.join(writes)}",
            f'  shell: "echo {SAYS} {{wildcards.spec}}"',
        ]
    return lines
