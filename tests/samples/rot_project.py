"""A project around the tiny program `rot`, small enough to be built whole in a test."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = '[project]\nname = "rot"\nversion = "1"\n[project.scripts]\nrot = "cli:run"\n'
CLI = "import sys\n\nfrom rot import main\n\n\ndef run():\n    return main(sys.argv[1:])\n"
FAMILIES = ("", "-n 3", "-o out.txt", "-e")
TEXTS = ("first", "second", "third", "fourth", "fifth")
WEAK: Mapping[str, Any] = {  # of rules/acceptance.yaml: what a tiny program can meet
    "mutants_min": 1, "mutation_score": 0.0, "pool_coverage": 0.0, "scope_coverage": 0.0, "public_kill_ratio": 0.0,
    "nulls_max": 0.5,
}  # fmt: skip
MUTANTS = 12
SOLVER = """import pathlib, shutil, sys

SLIPS = {
    3: ("places = int(value)", "places = 4"),
    4: ('os.environ.get("ROT", "13")', '"12"'),
    5: ("file.write(out)", "file.write(out[1:])"),
}
HERE, THERE, SEED = pathlib.Path(__file__).parent, pathlib.Path("/app/submission"), int(sys.argv[-1])
text = (HERE / "right.py").read_text()
right, wrong = SLIPS.get(SEED, ("", ""))
(THERE / "main.py").write_text(text.replace(right, wrong, 1) + f"# attempt {SEED}\\n")
shutil.copy(HERE / "compile.sh", THERE)
"""


def lay(root: Path) -> None:
    """Lay the program, with cases of its own, and rules that it can meet."""
    shutil.copytree(ROOT / "tests" / "samples" / "rot" / "python", root / "rot")
    shutil.copy(ROOT / "specs" / "tally" / "LICENSE", root / "rot" / "LICENSE")
    (root / "rot" / "pyproject.toml").write_text(PROJECT)
    (root / "rot" / "cli.py").write_text(CLI)
    (root / "rot" / "README.md").write_text("# rot\n\n    rot [-n N] [-e] [-o FILE] [FILE]\n")
    for n, (words, text) in enumerate((w, t) for w in FAMILIES for t in TEXTS):
        case = root / "rot" / "tests" / "cases" / f"case-{n:02}"
        case.mkdir(parents=True)
        (case / "cmd").write_text(f"rot {words} in.txt\n")
        (case / "in.txt").write_text(f"The {text} of several lines\n" * (n + 1))
        (case / "expout").write_text("")
    (root / "specs").mkdir()
    (root / "rules").mkdir()
    rule(root, "acceptance", **WEAK)
    rule(root, "goldens", mutants={**_packaged("goldens")["mutants"], "count": MUTANTS})


def lay_solvers(root: Path) -> None:
    """Scripted solvers: `--seed` 0 to 2 are right, 3 to 5 each get another option wrong."""
    folder = root / "solvers"
    folder.mkdir()
    (folder / "solver.py").write_text(SOLVER)
    shutil.copy(root / "rot" / "rot.py", folder / "right.py")
    shutil.copy(ROOT / "programsmith" / "payload" / "submission" / "python" / "compile.sh", folder)


def _packaged(name: str) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((ROOT / "rules" / f"{name}.yaml").read_text())
    return value


def rule(root: Path, name: str, **changed: Any) -> None:
    """The project's own copy of a rule, with some of its fields changed."""
    (root / "rules" / f"{name}.yaml").write_text(yaml.safe_dump(_packaged(name) | changed))
