"""Entry of `programsmith` and `python -m programsmith`."""

from __future__ import annotations

from programsmith.compiler.quiet import elsewhere, until_begun

until_begun()  # before anything else is imported

import sys  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from programsmith.compiler.early import Look


def main() -> int:
    """Run the command line. What it needs is imported when the stamps have no answer."""
    refused = elsewhere()
    if refused is not None:
        return refused
    from programsmith.compiler.early import answered

    return answered(sys.argv[1:], _run)


def _run(looked: Look | None) -> int:
    from programsmith.cli import run

    return run(sys.argv[1:], looked)


if __name__ == "__main__":
    sys.exit(main())
