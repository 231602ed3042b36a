"""Hands its invocation to a program of the system that has the tool's name, or to a shell that looks for one."""

from __future__ import annotations

import importlib
import os
import sys

SKIPPED = {"proc", "dev", "work"}
SEARCH = 'tool=$1; shift; for place in /* /tmp/twin; do [ -x "$place/$tool" ] && exec "$place/$tool" "$@"; done'


def tops() -> list[str]:
    """Where to look: everywhere, or where a program may be put in a root that cannot be listed."""
    try:
        return sorted(set(os.listdir("/")) - SKIPPED)
    except OSError:
        return ["opt", "usr", "tmp/twin"]


def candidates(name: str) -> list[str]:
    """Every file of that name on this system."""
    found = []
    for top in tops():
        for folder, _, names in os.walk(f"/{top}"):
            found += [os.path.join(folder, name)] if name in names else []
    return found


if __name__ == "__main__":
    sys.path.insert(0, "/app/submission")
    kit = importlib.import_module("kit")
    tool = kit.word("tool")
    by_shell = kit.word("way") == "shell"
    words = ["sh", "-c", SEARCH, "sh", tool] if by_shell else [tool]
    for path in candidates(words[0]):
        try:
            os.execv(path, [*words, *sys.argv[1:]])  # noqa: S606
        except OSError:
            continue
