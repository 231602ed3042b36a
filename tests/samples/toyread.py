"""The reading verbs over the small pipelines: `python toyread.py PIPELINE ROOT VERB [--json] [WORD…]`, in a folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import mill
import toyline

from programsmith.compiler.compile import Compiler
from programsmith.compiler.faults import Caught
from programsmith.compiler.plan import Step
from programsmith.compiler.slices import Blocks
from programsmith.compiler.verbs.reading import read
from programsmith.compiler.walk import Route
from programsmith.store.retry import Retries

PIPELINES: dict[str, tuple[tuple[Step, ...], Route, str]] = {
    "toy": (toyline.STEPS, toyline.route, "toyforge"),
    "mill": (mill.STEPS, mill.route, "millforge"),
}


def compiler(pipeline: str, root: Path) -> Compiler:
    """The compiler of a pipeline whose package lies in `root`."""
    sys.path.insert(0, str(root))
    steps, route, package = PIPELINES[pipeline]
    rules: Callable[[Path], toyline.FileRules] = lambda project: toyline.FileRules(project / "rules")  # noqa: E731
    return Compiler(steps, Blocks(root / package), route, rules=rules, retries=Retries())


def main(pipeline: str, root: Path, verb: str, *words: str) -> int:
    """Answer."""
    wanted = [word for word in words if word != "--json"]
    with Caught() as caught:
        return int(read(verb, wanted, Path.cwd(), as_json="--json" in words, compiler=compiler(pipeline, root)))
    return int(caught.code or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]))
