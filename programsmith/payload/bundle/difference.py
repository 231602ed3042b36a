"""What a failing public case shows to the agent: where expected and got part, as escaped text.

The case runs once more for it, so that the run that counted keeps nothing in memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from programsmith.payload.verifier.cases import Bench
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Expected, FileEntry, GradedCase
from programsmith.payload.verifier.words import expected_files, shown

_WIDTH = 160


def difference(graded: GradedCase, bench: Bench) -> Iterator[str]:
    """Lines that say how the case ran and where it differs."""
    words = [bench.policy.tool.encode(), *graded.case.argv]
    yield "  command: " + " ".join(shown(w) if w else "''" for w in words)
    result = bench.launcher.run(bench.request(graded))
    if not result.started:
        yield f"  not started: {result.fault or f'errno {result.start_error}'}"
        return
    if result.limits_hit:
        yield f"  limit: {', '.join(sorted(result.limits_hit))}"
    yield from _streams(graded.expected, result)
    yield from _files(expected_files(graded.case, graded.expected), result.files)


def _streams(expected: Expected, result: Result) -> Iterator[str]:
    if expected.stdout != result.stdout:
        at = first_difference(expected.stdout, result.stdout)
        start = expected.stdout.rfind(b"\n", 0, at) + 1
        line = expected.stdout.count(b"\n", 0, at) + 1
        yield f"  stdout differs at byte {at}, line {line}"
        yield f"    expected: {shown(expected.stdout[start : start + _WIDTH])}"
        yield f"    got:      {shown(result.stdout[start : start + _WIDTH])}"
    if (expected.exit_code, expected.signal) != (result.exit_code, result.signal):
        wanted, got = _end(expected.exit_code, expected.signal), _end(result.exit_code, result.signal)
        yield f"  ended with: expected {wanted}, got {got}"
    if expected.stderr_empty != (not result.stderr):
        said = f": {shown(result.stderr[:_WIDTH])}" if result.stderr else ""
        yield f"  stderr: expected {'nothing' if expected.stderr_empty else 'something'}{said}"


def first_difference(left: bytes, right: bytes) -> int:
    """Index of the first byte in which two different strings differ."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[:middle] == right[:middle] else (low, middle - 1)
    return low


def _end(code: int | None, by: int | None) -> str:
    return f"exit code {code}" if by is None else f"signal {by}"


def _files(expected: tuple[FileEntry, ...], got: tuple[FileEntry, ...] | None) -> Iterator[str]:
    if got is None:
        yield "  files: the work directory cannot be read whole"
        return
    left = {e.path: (e.kind, e.content) for e in expected if e.kind != "dir"}
    right = {e.path: (e.kind, e.content) for e in got if e.kind != "dir"}
    for path in sorted(left.keys() | right.keys()):
        if left.get(path) != right.get(path):
            state = "missing" if path not in right else "not expected" if path not in left else "different"
            yield f"  file {shown(path)}: {state}"
