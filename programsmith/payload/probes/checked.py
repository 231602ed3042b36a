"""Runs a public runner's program on several places and tells what it says of each.

Arguments: the program, then folders that stand for /app. Out: a JSON list of pairs: the exit code, the output.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
from typing import Any


def main() -> None:
    """Run it once for each folder."""
    program, *folders = sys.argv[1:]
    sys.path.insert(0, program)
    check: Any = importlib.import_module("programsmith.payload.bundle.check")
    said = []
    for folder in folders:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            code = check.main([], app=folder)
        said.append([code, output.getvalue()])
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
