"""Verbs over the small pipelines, in a folder: `python toyread.py PIPELINE ROOT VERB [--json] [--yes] [WORD…]`."""

from __future__ import annotations

import sys
from pathlib import Path

from programsmith.compiler.build import build
from programsmith.compiler.compile import Compiler
from programsmith.compiler.faults import Caught
from programsmith.compiler.plan import Step
from programsmith.compiler.slices import Blocks
from programsmith.compiler.verbs.reading import read
from programsmith.compiler.walk import Route
from programsmith.store.retry import Retries

sys.path.insert(0, str(Path(__file__).parent))  # its siblings, however it is started
import mill  # noqa: E402
import toyline  # noqa: E402

PIPELINES: dict[str, tuple[tuple[Step, ...], Route, str]] = {
    "toy": (toyline.STEPS, toyline.route, "toyforge"),
    "mill": (mill.STEPS, mill.route, "millforge"),
}
FLAGS = ("--json", "--yes")


def compiler(pipeline: str, root: Path) -> Compiler:
    """The compiler of a pipeline whose package lies in `root`."""
    steps, route, package = PIPELINES[pipeline]
    blocks, once = Blocks(root / package), Retries()
    return Compiler(steps, blocks, route, rules=lambda project: toyline.FileRules(project / "rules"), retries=once)


def main(pipeline: str, root: Path, verb: str, *words: str) -> int:
    """Build, or answer."""
    sys.path.insert(0, str(root))
    of = compiler(pipeline, root)
    wanted = [word for word in words if word not in FLAGS]
    if verb == "build":
        return build(wanted, Path.cwd(), workers=4, yes="--yes" in words, compiler=of)
    with Caught() as caught:
        return int(read(verb, wanted, Path.cwd(), as_json="--json" in words, compiler=of))
    return int(caught.code or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]))
