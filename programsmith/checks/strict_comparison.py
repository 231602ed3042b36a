"""The verifier takes the right answer and no other: each way of being nearly right must fail its case.

Graded are tables in which one case after the other is altered in a way of its own; a case that is left as it is shows
that tables are heard. Beside each lie programs of the names by which a comparison could be started, which find all
things equal. A program that says the answer on its other stream, or that never starts, must not pass either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from programsmith.bundle.controls import Files, table
from programsmith.bundle.render import read_payload
from programsmith.checks.attempts import NOTHING, STREAM, trying
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.stages import Graded, distinct, graded
from programsmith.payload.verifier.compare import choice
from programsmith.payload.verifier.environment import COMPILE
from programsmith.payload.verifier.model import Expected, FileEntry, GradedCase
from programsmith.payload.verifier.words import CaseWord, expected_files

Altered = Callable[[GradedCase], Expected | None]
NEVER, ASIDE = "never_starts", "aside"
OTHER_STREAM = "the answer on standard error"
CLAIM = b"1 of 1 PASSED\n"
AGREES = tuple(
    FileEntry(name, "file", 0o755, b"#!/bin/sh\nexit 0\n") for name in (b"cmp", b"diff", b"sha256sum", b"python3")
)


def _output(change: Callable[[bytes], bytes]) -> Altered:
    """Another standard output, where the case has one and compares it byte by byte."""

    def altered(case: GradedCase) -> Expected | None:
        former = case.expected.stdout
        if not former or choice(case.compare)["stdout"] != "bytes":
            return None
        return dataclasses.replace(case.expected, stdout=change(former))

    return altered


def _other_exit(case: GradedCase) -> Expected | None:
    code = case.expected.exit_code
    return None if code is None else dataclasses.replace(case.expected, exit_code=(code + 1) % 256)


def _more_files(case: GradedCase) -> Expected:
    left = (*expected_files(case.case, case.expected), FileEntry(b"nobody-asked-for-this"))
    return dataclasses.replace(case.expected, files=left)


def _other_stderr(case: GradedCase) -> Expected | None:
    if choice(case.compare)["stderr"] != "emptiness":
        return None
    return dataclasses.replace(case.expected, stderr_empty=not case.expected.stderr_empty)


_said = _output(lambda out: out)
WAYS: Mapping[str, Altered] = {
    "the beginning alone": _output(lambda out: out[:-1]),
    "a NUL more": _output(lambda out: out + b"\0"),
    "a line more": _output(lambda out: out + b"\n"),
    "another letter": _output(lambda out: bytes([out[0] ^ 1]) + out[1:]),
    "the word that all passed": _output(lambda out: out + CLAIM),
    "another exit code": _other_exit,
    "another standard error": _other_stderr,
    "a file more": _more_files,
}


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:  # noqa: ARG001 - every check has the same form
    """Grade tables until each way was tried."""
    cases = distinct(sorted(scene.sides.held_out, key=lambda c: (not c.expected.stdout, c.case.id)))
    rounds = list(_rounds(cases))
    language = scene.manifest.target_language
    submissions: dict[str, Files] = {NEVER: _never_starts()}
    for number, chosen in enumerate(rounds):
        altered = table(language, [_with(c, chosen.get(c.case.id)) for c in cases])
        submissions[f"table{number}"] = (*altered, *AGREES)
    aside = next(({c.case.id: OTHER_STREAM} for c in cases if _said(c)), {})
    if aside:
        submissions[ASIDE] = trying(scene, cases, [STREAM if c.case.id in aside else NOTHING for c in cases])
        rounds.append(aside)
    got = graded(scene, submissions, cases)
    found = [
        *_passed(got.pop(NEVER)),
        *(f for one, chosen in zip(got.values(), rounds, strict=True) for f in _faults(one, chosen)),
    ]
    tried = sorted({way for chosen in rounds for way in chosen.values()})
    return Row(
        passed=not found,
        reason=first(found, f"{len(tried)} ways of being nearly right fail", "comparison"),
        evidence={"faults": found, "ways": tried, "untried": sorted({*WAYS, OTHER_STREAM}.difference(tried))},
    )


def _rounds(cases: Sequence[GradedCase]) -> Iterator[dict[str, str]]:
    """Which case is altered in which way, table by table; each way once, and one case of a table stays as it is."""
    waiting = [way for way in WAYS if any(WAYS[way](c) for c in cases)]
    while waiting:
        chosen: dict[str, str] = {}
        for way in tuple(waiting):
            free = (c.case.id for c in cases if c.case.id not in chosen and WAYS[way](c))
            case = next(free, None)
            if case is not None and len(chosen) < max(1, len(cases) - 1):
                chosen[case] = way
                waiting.remove(way)
        yield chosen


def _with(case: GradedCase, way: str | None) -> GradedCase:
    altered = WAYS[way](case) if way else None
    return dataclasses.replace(case, expected=altered) if altered else case


def _never_starts() -> Files:
    return (FileEntry(COMPILE.encode(), "file", 0o755, read_payload("probes", "never_starts.sh")),)


def _passed(got: Graded) -> Iterator[str]:
    passed = [case for case, word in got.words.items() if word == CaseWord.AC]
    yield from (
        f"tests/verify.pyz: {case}: wanted no pass of a program that never starts, got AC" for case in passed[:1]
    )


def _faults(got: Graded, chosen: Mapping[str, str]) -> Iterator[str]:
    for case, word in got.words.items():
        way = chosen.get(case)
        if way is None and word != CaseWord.AC:
            yield f"tests/verify.pyz: {case}: wanted AC for the right answer, got {word} ({got.grade.reason})"
        elif way is not None and word == CaseWord.AC:
            yield f"tests/verify.pyz: {case}: wanted no pass with {way}, got AC"
