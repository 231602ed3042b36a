"""The verb build over the small pipeline: `python toyverb.py ROOT [-n N] [--yes] [spec=…]`, in the current folder."""

from __future__ import annotations

import sys
from pathlib import Path

from toyline import STEPS, FileRules, route

from programsmith.compiler.build import build
from programsmith.compiler.compile import Compiler
from programsmith.compiler.slices import Blocks
from programsmith.store.retry import Retries


def main(root: Path, args: list[str]) -> int:
    """Build with the project's own rules."""
    sys.path.insert(0, str(root))
    workers = 1
    if "-n" in args:
        at = args.index("-n")
        workers = int(args[at + 1])
        args = args[:at] + args[at + 2 :]
    yes = "--yes" in args
    args = [arg for arg in args if arg != "--yes"]
    blocks, once = Blocks(root / "toyforge"), Retries()
    compiler = Compiler(STEPS, blocks, route, rules=lambda project: FileRules(project / "rules"), retries=once)
    return build(args, Path.cwd(), workers=workers, yes=yes, compiler=compiler)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
