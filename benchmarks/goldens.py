"""What goldens cost: launches of the oracle for a kept case, kept cases a second, mutants a minute.

`python benchmarks/goldens.py [--quick] [--json]`. In: nothing. Out: what bars.py prints; exit code 1 where a bar is
missed. Each row runs the pipeline's own blocks from ingest to goldens over a small program with a suite of its own:
the second example in C, through the launch server and through bubblewrap; one program (rpn/) in Go and in Rust. A row
whose toolchain is absent is `missing`; a pool that is too thin ends the benchmark. --quick judges fewer mutants and
mines fewer cases in Go and Rust.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from bars import MISSING, Answer, idle_cores

from programsmith import __version__
from programsmith.blocks import goldens, ingest, matrix, oracle, pick
from programsmith.compiler.plan import STEP
from programsmith.errors import PrerequisiteError
from programsmith.job import Job, Rules, Tracked
from programsmith.payload.verifier.launcher import Launcher, View
from programsmith.payload.verifier.launchers import bubblewrap
from programsmith.records import codec
from programsmith.records.golden import Kills
from programsmith.records.outcome import Outcome
from programsmith.rulebook.load import Rulebook
from programsmith.sandboxes.config import launcher_config
from programsmith.spec.load import load_spec

ROOT = Path(__file__).parents[1]
RPN = Path(__file__).parent / "rpn"
BLOCKS: dict[str, ModuleType] = {"ingest": ingest, "matrix": matrix, "pick": pick, "oracle": oracle, "goldens": goldens}
WAYS = {"compiled": "compiled", "bwrap": "c"}
"""Launcher by its name in the bars, and how launcher_config calls it."""
MADE, KEPT = re.compile(r"\d+ other forms"), re.compile(r"\d+ cases kept")
TOOLS = {"c": "cc", "go": "go", "rust": "cargo"}
LAID = {
    "go": {"go.mod": "module example.org/rpn\n\ngo 1.19\n", "main.go": "rpn.go"},
    "rust": {
        "Cargo.toml": '[package]\nname = "rpn"\nversion = "1.0.0"\nedition = "2021"\nlicense = "Apache-2.0"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "rpn"\nversion = "1.0.0"\n',
        "src/main.rs": "rpn.rs",
    },
}
"""Files of a source by path: their text, or the file of rpn/ that they are."""
WORDS = ("+", "-", "*", "/", "%", "^", "gcd", "max", "min", "dup", "drop", "neg", "abs", "range", "swap")
OPTIONS = ((), ("--hex",), ("--binary",), ("--trace",), ("--hex", "--trace"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Rows of the suite that Go and Rust have; mutants that are judged."""

    rows: int
    mutants: int


QUICK, WHOLE, NO_MUTANTS = Size(rows=40, mutants=16), Size(rows=240, mutants=130), Size(rows=0, mutants=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a pool took: seconds of capture with all gates and of strength, its build included; what came of it."""

    capture: float
    strength: float
    kept: int
    launches: int
    mutants: int


def main() -> int:
    """Make the pools."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer mutants and cases, at most 40 seconds")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    size = QUICK if options.quick else WHOLE
    answer = Answer("goldens", quick=options.quick, versions={"programsmith": __version__}, idle=idle_cores())
    found = {way: row("c", size if way == "compiled" else NO_MUTANTS, called) for way, called in WAYS.items()}
    for way, made in found.items():
        answer.figures[f"kept_per_second_{way}"] = round(made.kept / made.capture, 1) if made else MISSING
    one = found["compiled"]
    answer.ratios["launches_per_kept"] = round(one.launches / one.kept, 2) if one else MISSING
    for language, made in {"c": one, **{name: row(name, size, "compiled") for name in ("go", "rust")}}.items():
        answer.figures[f"mutants_per_minute_{language}"] = (
            round(60 * made.mutants / made.strength, 1) if made else MISSING
        )
    answer.idle = min(answer.idle, idle_cores())
    return answer.end(as_json=options.json)


def row(language: str, size: Size, way: str) -> Made | None:
    """The pool of one program; None where its compiler or the launcher is absent. Raises RuntimeError."""
    if shutil.which(TOOLS[language]) is None:
        return None
    with tempfile.TemporaryDirectory(prefix="programsmith-goldens.") as folder:
        project = Path(folder)
        name = lay(project, language, size)
        with contextlib.suppress(PrerequisiteError), launched(way):
            return make(project, name, size)
    return None


def lay(project: Path, language: str, size: Size) -> str:
    """A project with the program's spec and source. Returns the spec's name."""
    (project / "specs").mkdir()
    if language == "c":
        shutil.copytree(ROOT / "specs" / "abacus", project / "specs" / "abacus")
        shutil.copy(ROOT / "specs" / "abacus.yaml", project / "specs")
        return "abacus"
    source = project / "specs" / "rpn"
    for path, text in {**LAID[language], "LICENSE": "LICENSE", "tests/table.yaml": suite(size.rows)}.items():
        place = source / path
        place.parent.mkdir(parents=True, exist_ok=True)
        known = next((at for at in (RPN / text, ROOT / text) if len(text) < 80 and at.is_file()), None)
        place.write_text(known.read_text("utf-8") if known else text, encoding="utf-8")
    spec = {
        "version": 1,
        "name": "rpn",
        "source": {"path": "specs/rpn"},
        "task": {"target_languages": ["python"], "tool": "rpn"},
        "goldens": {"min_kept": 1},
        "horizon": {"min_lines": 1},
    }
    (project / "specs" / "rpn.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    return "rpn"


def suite(rows: int) -> str:
    """A table of tests: lines of words by a seeded draw, on the command line or as input."""
    chance = random.Random(1)  # noqa: S311 - reproducible sampling, not a secret
    table: list[dict[str, Any]] = []
    for number in range(rows):
        words = [str(chance.randrange(-9, 90)) for _ in range(chance.randrange(1, 4))]
        words += [chance.choice((chance.choice(WORDS), str(chance.randrange(10)))) for _ in range(chance.randrange(6))]
        option = [*OPTIONS[number % len(OPTIONS)]]
        line = {"args": option, "input": " ".join(words) + "\n"} if number % 3 == 0 else {"args": [*option, *words]}
        table.append({"name": f"t{number}", **line, "stderr": ""})
    return json.dumps(table, indent=0)


@contextlib.contextmanager
def launched(way: str) -> Iterator[None]:
    """Cases are captured through one launcher. Raises PrerequisiteError where this host cannot have it."""

    def opened(view: View) -> Launcher:
        return bubblewrap(launcher_config(view, way))

    usual, goldens.open_launcher = goldens.open_launcher, opened
    try:
        yield
    finally:
        goldens.open_launcher = usual


def make(project: Path, name: str, size: Size) -> Made:
    """Run the blocks to the pool. Raises RuntimeError where one does not pass."""
    told: list[tuple[float, str]] = []
    for block in BLOCKS:
        outcome = run(block, project, name, size, lambda text: told.append((time.monotonic(), text)))
        if outcome.word not in ("pass", "picked"):
            raise RuntimeError(f"{name}: {block} said {outcome.word}: {outcome.reason}")
    ended = time.monotonic()
    began, kept = (next(at for at, text in told if pattern.match(text)) for pattern in (MADE, KEPT))
    kills = codec.load(project / "kills.json", Kills)
    return Made(
        capture=kept - began,
        strength=ended - kept,
        kept=outcome.evidence["kept"],
        launches=outcome.evidence["launches"],
        mutants=len(kills.mutants),
    )


def run(block: str, project: Path, name: str, size: Size, say: Callable[[str], None]) -> Outcome:
    """Run one block; its artifacts lie in the project's folder."""
    step, book = STEP[block], Rulebook(project)
    spec = load_spec(project / "specs" / f"{name}.yaml", project)

    def rules(rule: str) -> Any:
        found = book.load(rule)
        return {**found, "mutants": {**found["mutants"], "count": size.mutants}} if rule == "goldens" else found

    with tempfile.TemporaryDirectory(prefix="programsmith-block.", dir=project) as scratch:
        Path(scratch).chmod(0o755)
        outcome: Outcome = BLOCKS[block].run(
            Job(
                spec=Tracked("spec field", {**spec.values, "approved": {"pick": None}}, step.spec),
                rules=Rules(rules, step.rules),
                inputs={artifact: project / artifact for artifact in step.reads},
                outputs={artifact: project / artifact for artifact in step.writes},
                scratch=Path(scratch),
                project=project,
                store=project / "store",
                dist=project / "dist",
                say=say,
            )
        )
    return outcome


if __name__ == "__main__":
    sys.exit(main())
