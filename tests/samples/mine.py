from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
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

LIMITS = MineLimits(fixture_files=5, fixture_bytes=10_000, table_bytes=100_000, table_nodes=5_000)


RULES = Path(__file__).parents[2] / "rules"


def rule(name):
    return yaml.safe_load((RULES / f"{name}.yaml").read_text("utf-8"))


@contextmanager
def staged(**limits) -> Iterator[Stage]:
    """The sandbox in which miners play shell text, with the real rules but for `limits`."""
    launcher = open_launcher(shell_view(toolchains(rule("toolchains"))["c"]))
    section = rule("limits")["mining"]
    try:
        most = replace(Limits(**{name: section[name] for name in Limits.__dataclass_fields__}), **limits)
        yield Stage(play=launcher.run, limits=most)
    finally:
        launcher.close()


def mine(name, files, tool="tool", stage=None, options=()):
    """Cases and refusals of one miner over files given as a mapping of path to content."""
    tree = SourceTree(FileEntry(path, "file", 0o644, content) for path, content in files.items())
    context = MineContext(
        tool=tool,
        licence=lambda path: f"licence of {path.decode('latin-1')}",
        limits=LIMITS,
        stage=stage,
        options=options,
    )
    found = list(MINERS[name].mine(tree, context))
    return found, {k: v for k, v in context.skipped.items() if v}
