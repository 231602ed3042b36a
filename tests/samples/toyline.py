"""Builds the small pipeline in a folder: `python toyline.py ROOT WORKERS`. Its spec is ROOT/values.json."""

from __future__ import annotations

import functools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from programsmith.compiler.lock import held
from programsmith.compiler.paths import Project
from programsmith.compiler.plan import EVERY, Step
from programsmith.compiler.revision import build_spec
from programsmith.compiler.slices import Blocks, content
from programsmith.compiler.storage import action_cache
from programsmith.compiler.turn import Subject
from programsmith.records.outcome import Word
from programsmith.verdict.routes import Go

ENDS = frozenset({Word.REJECT, Word.TOO_WEAK, Word.FAIL, Word.DROP})

STEPS = (
    Step(
        block="dig",
        writes=("ore.txt",),
        says=(Word.PASS, Word.REJECT),
        spec=("source", "generation"),
        outside=("source.path",),
    ),
    Step(
        block="wash",
        reads=("ore.txt",),
        writes=("r/count.json", "r/clean/"),
        says=(Word.PASS,),
        spec=("description",),
        rules=("soap",),
        payload=("cart",),
        per_revision=True,
    ),
    Step(
        block="scale",
        reads=("r/clean/",),
        says=(Word.PASS, Word.TOO_WEAK),
        rules=("weights",),
        per_revision=True,
    ),
    Step(
        block="smell",
        reads=("r/count.json", "r/clean/"),
        writes=("r/smell.ok",),
        says=(Word.PASS,),
        rules=("nose",),
        per_revision=True,
    ),
    Step(block="box", reads=("r/smell.ok",), writes=("r/box.txt",), says=(Word.PASS,), per_revision=True),
    Step(
        block="judge",
        reads=("ore.txt", "r/box.txt"),
        writes=("verdict.json",),
        says=(Word.DRAFT, Word.DROP),
        records=EVERY,
        per_revision=True,
        closes=True,
    ),
    Step(
        block="sell",
        reads=("verdict.json", "r/clean/"),
        writes=("dist/",),
        says=(Word.EXPORTED,),
        per_revision=True,
    ),
)


@dataclass(frozen=True)
class FileRules:
    """Rule files of the small project, read at each call."""

    folder: Path

    def load(self, name: str) -> Any:
        """See RuleFiles."""
        return yaml.safe_load((self.folder / f"{name}.yaml").read_bytes())

    def digest(self, name: str) -> str:
        """See RuleFiles."""
        return content(self.folder / f"{name}.yaml")


def route(block: str, word: Word) -> Go:
    """The routes of the small pipeline."""
    del block
    return Go.END if word in ENDS else Go.CONTINUE


def subject(root: Path, workers: int = 1) -> Subject:
    """The small spec as it stands in `root`."""
    return Subject(
        folder=Project(root).folder("toy"),
        values=json.loads((root / "values.json").read_bytes()),
        rules=FileRules(root / "rules"),
        blocks=Blocks(root / "toyforge"),
        route=route,
        workers=workers,
        cache=functools.cache(lambda: action_cache(Project(root), root / "specs" / "toy.yaml")),
    )


def main(root: Path, workers: int) -> int:
    """Build and print what ran."""
    sys.path.insert(0, str(root))
    made = subject(root, workers)
    with held(made.folder):
        answer = build_spec(STEPS, made)
    print(json.dumps({"outcome": answer.outcome, "exit": answer.exit, "ran": answer.ran}))
    return answer.exit


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
