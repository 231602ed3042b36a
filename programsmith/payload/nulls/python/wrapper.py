"""Hands its arguments to the first program of wrapped.txt that can be executed. Solves nothing itself."""

from __future__ import annotations

import os
import sys

LIST = "/app/submission/wrapped.txt"


def main() -> int:
    """Try each path in turn; 127 where none can be executed."""
    with open(LIST, "rb") as paths:
        for path in paths.read().splitlines():
            try:
                os.execv(path, [os.path.basename(path), *map(os.fsencode, sys.argv[1:])])  # noqa: S606 - the point of it
            except OSError:
                continue
    return 127


if __name__ == "__main__":
    sys.exit(main())
