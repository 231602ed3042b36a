from __future__ import annotations

from programsmith.miners import MINERS
from programsmith.miners.base import MineContext, MineLimits
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

LIMITS = MineLimits(fixture_files=5, fixture_bytes=10_000, table_bytes=100_000, table_nodes=5_000)


def mine(name, files, tool="tool"):
    """Cases and refusals of one miner over files given as a mapping of path to content."""
    tree = SourceTree(FileEntry(path, "file", 0o644, content) for path, content in files.items())
    context = MineContext(tool=tool, licence=lambda path: f"licence of {path.decode('latin-1')}", limits=LIMITS)
    found = list(MINERS[name].mine(tree, context))
    return found, {k: v for k, v in context.skipped.items() if v}
