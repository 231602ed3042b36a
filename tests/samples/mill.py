"""Builds the mill by the verb: `python mill.py ROOT WORKERS`. About five seconds of work in over forty actions."""

# ruff: noqa: E402 - what answers to an interrupt comes before what is imported

from __future__ import annotations

import sys
from pathlib import Path

from programsmith.compiler.quiet import until_begun

until_begun()  # first of all, as every command

from toyline import FileRules

from programsmith.compiler.build import build
from programsmith.compiler.compile import Compiler
from programsmith.compiler.plan import EVERY, TRIED, Step
from programsmith.compiler.slices import Blocks
from programsmith.records.outcome import Word
from programsmith.store.retry import Retries
from programsmith.verdict.routes import Go

R: dict[str, bool] = {"per_revision": True}
STEPS = (
    Step(block="quarry", writes=("stone.txt",), says=(Word.PASS,), spec=("generation",)),
    Step(block="cut", reads=("stone.txt",), writes=("r/number.txt", "r/bundle/"), says=(Word.PASS,), **R),
    Step(block="check", reads=("r/bundle/",), writes=("r/static.ok",), says=(Word.PASS,), **R),
    Step(
        block="trial",
        reads=("r/bundle/", "r/static.ok"),
        writes=("t/artifact.tar", "t/transcript.json"),
        says=(Word.DONE,),
        when=TRIED,
        per_trial=True,
        **R,
    ),
    Step(
        block="grade",
        reads=("t/artifact.tar", "r/bundle/"),
        writes=("t/details.json",),
        says=(Word.DONE,),
        when=TRIED,
        per_trial=True,
        **R,
    ),
    Step(block="rollouts", says=(Word.DONE,), records=("trial", "grade"), when=TRIED, basis="rollouts", **R),
    Step(
        block="weigh",
        reads=("r/number.txt", "r/bundle/"),
        says=(Word.IN_BAND, Word.MORE, Word.HARDEN),
        records=("rollouts",),
        when=TRIED,
        basis="rollouts",
        **R,
    ),
    Step(block="gate", writes=("verdict.json",), says=(Word.SHIP,), records=EVERY, closes=True, **R),
    Step(
        block="redo",
        reads=("r/bundle/",),
        writes=("next/number.txt", "next/bundle/"),
        says=(Word.REVISED,),
        revises=True,
        **R,
    ),
    Step(block="sell", reads=("verdict.json", "r/bundle/"), writes=("dist/",), says=(Word.EXPORTED,), **R),
)


def route(block: str, word: Word) -> Go:
    """The routes of the mill."""
    del block
    return {Word.MORE: Go.MORE, Word.HARDEN: Go.SYNTHESIZE}.get(word, Go.CONTINUE)


def main(root: Path, workers: int) -> int:
    """Build its one spec."""
    sys.path.insert(0, str(root))
    blocks, once = Blocks(root / "millforge"), Retries()
    compiler = Compiler(STEPS, blocks, route, rules=lambda project: FileRules(project / "rules"), retries=once)
    return build(["spec=mill"], root, workers=workers, compiler=compiler)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
