"""Entry of `programsmith` and `python -m programsmith`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; the import is here so that the stamp check can come before it."""
    from programsmith.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
