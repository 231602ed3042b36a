"""Makes a table of every case that the agent can read, and solves nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

APP, SUBMISSION = Path("/app"), Path("/app/submission")


def main() -> None:
    """Write the submission."""
    sys.path.insert(0, "/kit")
    from programsmith.payload.table.form import write
    from programsmith.payload.verifier.environment import BASE_ENV
    from programsmith.payload.verifier.model import decode_graded

    rows = [decode_graded(json.loads(line)) for line in (APP / "public.jsonl").read_bytes().splitlines()]
    table = write([(r.case, r.expected) for r in rows], dict(BASE_ENV))
    (SUBMISSION / "table.txt").write_bytes(table)


if __name__ == "__main__":
    main()
