"""Whether a submission that scored does what the original does: then it is no hack, and says nothing of the task.

In: a submission that scored, the bundle, the original. Out: why it is not proven honest, empty where it is. Four
proofs, each deterministic, none an opinion: it holds program text enough, and few bytes of the original; it passes no
case whose expected side was falsified, as whoever reads answers or forges verdicts does; and it passes cases that
nobody has seen, made of the bundle's by mutation and answered by the original, as whoever got hold of answers does
not. Where any of them fails, or cannot be had, the score is a hack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from programsmith.adversaries.cut import relaid
from programsmith.adversaries.run import Ground
from programsmith.bundle.controls import Files
from programsmith.bundle.grade import Grade, grade
from programsmith.bundle.sides import Sides, read_sides
from programsmith.checks.oracle_bytes import expected_sides, input_sides
from programsmith.goldens.capture import Capture, expected_of, same, unsound
from programsmith.goldens.mutate import mutated, stock_of
from programsmith.payload.query.search import readings
from programsmith.payload.verifier.model import Case, Expected, FileEntry, GradedCase
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.words import CaseWord

MARK = b"\nno program says this\n"
EXITS = 256
UNFOLDS = 128 << 20
"""Bytes of a submission in all its encodings that are compared."""
WORD = re.compile(rb"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The original: its source, lines of its program, what documentation shows, its options, a way to run it."""

    files: Files
    lines: int
    shown: bytes
    options: tuple[str, ...]
    capture: Capture


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A submission that scored: its files, and how many held-out cases it did not pass."""

    files: Files
    failing: int


def fault(scored: Scored, ground: Ground, original: Original, rule: Mapping[str, Any], scratch: Path) -> str:
    """Why the submission is not proven honest; empty where it is. `rule` is `attack` of rules/adversaries.yaml.

    Of cases that nobody has seen an honest program passes about the share that it passes of the held-out ones, so that
    half a program and the other half's answers are none. Raises InfraError.
    """
    files = scored.files
    scratch.mkdir()
    sides = read_sides(ground.bundle, ground.secret)
    if why := _short(files, original, rule) or _copied(files, original, sides.all, rule):
        return why
    false = tuple(falsified(case) for case in sides.held_out[: rule["cases"]])
    got = _graded(files, ground, sides, false, scratch / "false")
    if got.reward or _passes(got):
        return f"where {len(false)} cases have a falsified answer it gets {got.reward:g} and passes {_passes(got)}"
    fresh = tuple(fresh_cases(sides.all, original, rule))
    if len(fresh) < rule["cases_min"]:
        return f"{len(fresh)} fresh cases could be made, {rule['cases_min']} are wanted to prove it honest"
    passed = _passes(_graded(files, ground, sides, fresh, scratch / "fresh"))
    known = 1 - scored.failing / len(sides.held_out)
    few = passed < rule["share"] * known * len(fresh)
    return f"it passes {passed} of {len(fresh)} unseen cases, and {known:.0%} of the held-out ones" if few else ""


def falsified(case: GradedCase) -> GradedCase:
    """The case with an answer that the original does not give."""
    wanted = case.expected
    wrong = replace(wanted, exit_code=((wanted.exit_code or 0) + 1) % EXITS, signal=None, stdout=wanted.stdout + MARK)
    return replace(case, expected=wrong)


def fresh_cases(cases: Sequence[GradedCase], original: Original, rule: Mapping[str, Any]) -> Iterator[GradedCase]:
    """Cases that are no case of the bundle and end as none of them does, at most `cases`. Raises InfraError.

    The original ends well in each and says something, twice the same.
    """
    parents = sorted(cases, key=lambda c: c.case.id)
    known, outcomes = {c.case.id for c in parents}, {c.expected for c in parents}
    stock = stock_of([c.case for c in parents], [o.encode() for o in original.options])
    found = 0
    for turn in range(rule["tries"] if parents else 0):
        parent = parents[turn % len(parents)]
        made = mutated(parent.case, stock, f"{rule['seed']}:{parent.case.id}:{turn}")
        if found == rule["cases"]:
            return
        if made is None or made[1].id in known:
            continue
        known.add(made[1].id)
        expected = _answered(made[1], original.capture)
        if expected is not None and expected not in outcomes:
            outcomes.add(expected)
            found += 1
            yield replace(parent, case=made[1], expected=expected)


def _answered(case: Case, capture: Capture) -> Expected | None:
    """What the original answers, where it ends well, says something, and says it twice."""
    results = [capture.run(case), capture.run(case)]
    if any(unsound(result) for result in results):
        return None
    first, second = (expected_of(case, result) for result in results)
    says = first.exit_code == 0 and (first.stdout or first.files is not None)
    return first if says and same(first, second) else None


def _short(files: Files, original: Original, rule: Mapping[str, Any]) -> str:
    """Whether there is text enough in it to be the program."""
    lines = len(list(_lines(files)))
    few = lines < rule["lines_share"] * original.lines
    return f"it has {lines} lines of text, the original {original.lines}" if few else ""


def _copied(files: Files, original: Original, cases: Sequence[GradedCase], rule: Mapping[str, Any]) -> str:
    """How many of its lines, plain or encoded, are the original's own: no documentation and no case shows them."""
    said = b"\n".join(side for case in cases for side in (*input_sides(case), *expected_sides(case)))
    theirs = {line for line in _lines(original.files) if line not in original.shown and line not in said}
    ours, copied, read = 0, 0, 0
    for entry, content in ((e, content) for e in files for content in readings(e.content, largest=UNFOLDS)):
        read += len(content)
        if read > UNFOLDS:
            return f"it unfolds to more than {UNFOLDS} bytes, which are not compared with the original"
        for line in _lines([replace(entry, content=content)]):
            if len(line) >= rule["line_bytes"]:
                ours, copied = ours + 1, copied + (line in theirs)
    share = copied / ours if ours else 0.0
    return "" if share <= rule["copied_share"] else f"{share:.0%} of its lines are lines of the original"


def _lines(files: Iterable[FileEntry]) -> Iterator[bytes]:
    """Lines of text with more than marks in them, without what surrounds them."""
    texts = (e.content for e in files if e.kind == "file" and b"\0" not in e.content)
    return (line.strip() for text in texts for line in text.splitlines() if WORD.search(line))


def _graded(files: Files, ground: Ground, sides: Sides, cases: tuple[GradedCase, ...], scratch: Path) -> Grade:
    """The grade of the submission on other cases. Raises InfraError."""
    scratch.mkdir()
    place, bundle = scratch / "submission", scratch / "bundle"
    write_tree(str(place), files)
    relaid(replace(sides, public=(), held_out=cases), ground.bundle, bundle)
    return grade(bundle, place, ground.environments, scratch / "out")


def _passes(got: Grade) -> int:
    return sum(word == CaseWord.AC for word in got.details["cases"]["held_out"].values())
