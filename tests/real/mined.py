"""What each miner finds in a folder: `python tests/real/mined.py FOLDER TOOL [MINER…]`.

In: a checked-out source, the tool's name, miners (all where none is named). Out: one line per miner that finds or
refuses anything: tests, cases with the templates that each is tried with, recorded expectations, refusals by word.
Nothing of the folder runs but what miners play in the sandbox.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import yaml

from programsmith.miners import MINERS
from programsmith.miners.base import MineContext, MineLimits
from programsmith.miners.staged import Stage
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.sandboxes import open_launcher
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.views import shell_view

RULES = Path(__file__).resolve().parents[2] / "rules"


def main(argv: list[str]) -> int:
    """Mine and print; exit status 3 where nothing is named."""
    if len(argv) < 2:
        print("usage: python tests/real/mined.py FOLDER TOOL [MINER…]", file=sys.stderr)
        return 3
    tree = SourceTree(entries(os.fsencode(argv[0])))
    caps = rule("goldens")["mining"]
    limits = MineLimits(**{name: caps[name] for name in MineLimits.__dataclass_fields__})
    most = rule("limits")["mining"]
    with closing(open_launcher(shell_view(toolchains(rule("toolchains"))["c"]))) as launcher:
        stage = Stage(play=launcher.run, limits=Limits(**{name: most[name] for name in Limits.__dataclass_fields__}))
        for name in argv[2:] or MINERS:
            context = MineContext(tool=argv[1], licence=lambda _: "", limits=limits, stage=stage)
            found = list(MINERS[name].mine(tree, context))
            tests = {(m.provenance.path, m.provenance.line, m.source or m.case.id) for m in found}
            refused = {word: count for word, count in sorted(context.skipped.items()) if count}
            recorded = sum(m.recorded.stdout is not None for m in found)
            if found or refused:
                print(f"{name}: {len(tests)} tests, {len(found)} cases, {recorded} with stdout, refused {refused}")
    return 0


def rule(name: str) -> dict:
    """A file of rules/."""
    return yaml.safe_load((RULES / f"{name}.yaml").read_text("utf-8"))


def entries(root: bytes) -> Iterator[FileEntry]:
    """Files and links below a folder; links are not followed."""
    for place, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f != b".git"]
        for path in (os.path.join(place, f) for f in files):
            name, link = os.path.relpath(path, root), os.path.islink(path)
            content = os.readlink(path) if link else Path(os.fsdecode(path)).read_bytes()
            yield FileEntry(name, "link" if link else "file", os.lstat(path).st_mode & 0o777, content)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
