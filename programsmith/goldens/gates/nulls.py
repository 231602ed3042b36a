"""Cases that a program without any sense passes: predicates over the golden, no launch."""

from __future__ import annotations

from collections.abc import Collection

from programsmith.payload.verifier.model import Case, Expected


def null_reason(case: Case, expected: Expected, usage: Collection[bytes]) -> str | None:
    """Which null program would pass: silent, echo of stdin, first file, usage text.

    `usage` holds the texts that the oracle prints for help, blanks at the ends removed.
    """
    if expected.files is not None:
        return None
    if expected.stdout.strip() in usage and expected.stdout.strip():
        return "null_usage"
    if not expected.stdout and expected.stderr_empty:
        return "null_silent"
    if expected.exit_code != 0 or not expected.stdout:
        return None
    if expected.stdout == case.stdin:
        return "null_stdin"
    files = [f.content for f in case.files if f.kind == "file" and f.path in case.argv]
    return "null_first_file" if files and expected.stdout == files[0] else None
