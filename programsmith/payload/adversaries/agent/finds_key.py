"""Looks for sealed cases and their key among what the agent was given, opens them and makes a table of them."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

APP, SUBMISSION = Path("/app"), Path("/app/submission")


def main() -> None:
    """Write the submission, where there is a key."""
    sys.path.insert(0, "/kit")
    from programsmith.payload.solution import open as opener
    from programsmith.payload.table.form import write
    from programsmith.payload.verifier.environment import BASE_ENV
    from programsmith.payload.verifier.model import GradedCase, decode_graded

    rows: dict[str, GradedCase] = {}
    for place in sorted(APP.rglob("seal.json")):
        seal = json.loads(place.read_bytes())
        bound = json.dumps([seal["identity"], seal["purpose"]], separators=(",", ":")).encode("ascii")
        key = opener.derive(base64.b64decode(seal["secret"]), bound)
        clear = opener.unseal(place.with_name("held_out.sealed").read_bytes(), key, bound)
        rows |= {r.case.id: r for r in (decode_graded(json.loads(line)) for line in clear.splitlines())}
    table = write([(r.case, r.expected) for r in rows.values()], dict(BASE_ENV))
    (SUBMISSION / "table.txt").write_bytes(table)


if __name__ == "__main__":
    main()
