"""sanity: submissions whose score is known go through the real path, and each must get what it deserves.

In: bundle, manifest, environment, oracle. Golden replay, table and the sealed solution itself must pass every case; the
table with one entry altered must fail exactly that case; nothing at all must get 0; each null at most the rule's share
of the held-out cases; a few of the bundle's own submissions what it says of them, word by word, on a few cases. Out:
pass or fail with every number as evidence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from pathlib import Path
from typing import Any

from programsmith.adversaries.cut import Choice, cut
from programsmith.bundle import controls
from programsmith.bundle.grade import Grade, Oracle, grade_all, replay
from programsmith.bundle.manifest import Manifest
from programsmith.bundle.sides import Sides, read_sides
from programsmith.bundle.solution import solution
from programsmith.bundle.submissions import Submission, difference, read_submissions, scale_of, verdict
from programsmith.bundle.tree import DOCS, read_bundle
from programsmith.bundle.twin import without_public
from programsmith.job import Job
from programsmith.payload.verifier.tree import write_tree
from programsmith.payload.verifier.words import CaseWord
from programsmith.records import codec
from programsmith.records.lock import OracleFacts
from programsmith.records.outcome import Outcome, Word
from programsmith.sources.tree import read_tar

SIDES = ("held_out", "public")
HELP, REPLAY, SOLUTION = "help", "golden_replay", "solution"
TRIED = ("partial_first_half", "says_nul", "ends_otherwise", "leaves_a_file")  # of the bundle's own submissions
TRIED_CASES = 4
PUBLIC_TABLE = "public_table"  # the null that passes every public case: both sides show what it is


class Part(Enum):
    """How much of the bundle a control is graded on."""

    WHOLE = "whole"
    TWIN = "twin"
    FEW = "few"


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A submission and what says whether its grade is right: the fault, or nothing.

    `on` is the bundle that it is graded on: the whole, its twin with the held-out cases alone, or a few of these.
    """

    id: str
    files: controls.Files
    judge: Callable[[Grade], str]
    on: Part = Part.WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every control is graded on: a folder for each part of the bundle. `few` is what the smallest one holds."""

    job: Job
    manifest: Manifest
    sides: Sides
    parts: Mapping[Part, Path]
    few: Sides

    @property
    def bundle(self) -> Path:
        """The bundle's folder."""
        return self.job.inputs["r/bundle/"]

    @property
    def environment(self) -> Path:
        """The environment file."""
        return self.job.inputs["r/environments.json"]

    def grade(self, wanted: Sequence[Control]) -> list[Grade]:
        """Grade every control, those of one bundle in one verifier. Raises InfraError."""
        found: dict[Path, Grade] = {}
        for part, bundle in self.parts.items():
            places = {self._out(one.id): self._laid(one) for one in wanted if one.on is part}
            secret = None if part is Part.FEW else self.job.owner_secret
            grades = grade_all(bundle, places, self.environment, secret)
            found.update(zip(places, grades, strict=True))
        return [found[self._out(one.id)] for one in wanted]

    def replay(self, oracle: Oracle) -> Grade:
        """Run the oracle itself on every case. Raises InfraError."""
        return replay(self.bundle, oracle, self.environment, self._out(REPLAY), self.job.owner_secret)

    def _laid(self, one: Control) -> Path:
        folder = self.job.scratch / one.id
        write_tree(str(folder), one.files)
        return folder

    def _out(self, name: str) -> Path:
        return self.job.scratch / f"{name}.out"


def run(job: Job) -> Outcome:
    """Grade every control and compare with what it must get."""
    bench, own = bench_of(job)
    graded = [*_positive(bench), _nothing(), *_nulls(bench, job.rules("acceptance")["nulls_max"]), *_own(bench, own)]
    rows = [_replay_row(bench), *_rows(bench, graded)]
    failed = [row for row in rows if row["fault"]]
    evidence = {"controls": rows, "solution": bench.manifest.solution}
    if failed:
        reason = "; ".join(f"{row['id']}: {row['fault']}" for row in failed)
        return Outcome(word=Word.FAIL, reason=reason, evidence=evidence)
    return Outcome(word=Word.PASS, reason=f"{len(rows)} controls get what they must", evidence=evidence)


def bench_of(job: Job) -> tuple[Bench, tuple[Submission, ...]]:
    """The bench, and those of the bundle's own submissions that are tried. Raises InfraError."""
    bundle = job.inputs["r/bundle/"]
    sides = read_sides(bundle, job.owner_secret)
    own = tuple(one for one in read_submissions(bundle, job.owner_secret) if one.id in TRIED)
    held_out = set(sides.plan.held_out)
    failing = [sorted(held_out & one.words.keys()) for one in own]
    ids = dict.fromkeys(i for turn in zip_longest(*failing) for i in turn if i)
    choice = Choice(ids=tuple(ids)[:TRIED_CASES], count=TRIED_CASES, whole=False)
    few = cut(sides, bundle, choice, job.scratch / "few")
    assert few is not None
    parts = {
        Part.WHOLE: bundle,
        Part.TWIN: without_public(bundle, job.scratch / "twin"),
        Part.FEW: job.scratch / "few",
    }
    manifest = codec.load(job.inputs["r/manifest.json"], Manifest)
    return Bench(job=job, manifest=manifest, sides=sides, parts=parts, few=few), own


def _own(bench: Bench, own: Iterable[Submission]) -> Iterator[Control]:
    scale = scale_of(bench.few)

    def judged(one: Submission) -> Callable[[Grade], str]:
        return lambda g: difference(verdict(one, scale), g.details)

    for one in own:
        yield Control(id=one.id, files=one.files, judge=judged(one), on=Part.FEW)


def _positive(bench: Bench) -> Iterator[Control]:
    language, cases = bench.manifest.target_language, bench.sides.all
    yield Control(id="table", files=controls.table(language, cases), judge=_all_pass)
    at = bench.sides.held_out[0].case.id
    altered = controls.table(language, controls.altered(cases, at))
    yield Control(id="altered_table", files=altered, judge=lambda g: _only_fails(bench, g, at), on=Part.TWIN)
    sealed = solution(bench.bundle, bench.job.owner_secret)
    yield Control(id=SOLUTION, files=sealed, judge=_all_pass)


def _nothing() -> Control:
    return Control(id="nop", files=(), judge=lambda g: "" if g.reward == 0 else f"reward {g.reward}, wanted 0")


def _nulls(bench: Bench, most: float) -> Iterator[Control]:
    def few(g: Grade) -> str:
        share = _passed(g, "held_out") / len(bench.sides.held_out)
        return "" if share <= most else f"passes {share:.1%} of the held-out cases, wanted at most {most:.1%}"

    executables = json.loads(bench.environment.read_bytes())["run"]["view"]["executables"]
    nulls = controls.nulls(
        bench.manifest.target_language, bench.manifest.tool, bench.sides.public, help_text(bench), executables
    )
    for name, files in nulls.items():
        yield Control(id=f"null_{name}", files=files, judge=few, on=Part.WHOLE if name == PUBLIC_TABLE else Part.TWIN)


def _rows(bench: Bench, wanted: Sequence[Control]) -> Iterator[dict[str, Any]]:
    """The evidence of each control, once graded."""
    for one, got in zip(wanted, bench.grade(wanted), strict=True):
        yield _row(bench, one.id, got, one.judge)


def _replay_row(bench: Bench) -> dict[str, Any]:
    return _row(bench, REPLAY, _replayed(bench), _all_pass)


def _row(bench: Bench, name: str, got: Grade, judge: Callable[[Grade], str]) -> dict[str, Any]:
    """The evidence of one control; `fault` is empty where it got what it must.

    A control that must pass every case names those in `failing` that it does not.
    """
    bench.job.say(f"{name}: reward {got.reward:g}, {got.word}: {got.reason}")
    counts = {f"{side}_passed": _passed(got, side) for side in SIDES}
    totals = {side: len(got.details["cases"][side]) for side in SIDES}
    failing = {"failing": sorted(_failing(got))} if judge is _all_pass else {}
    return {"id": name, "reward": got.reward, "word": got.word, **counts, **totals, "fault": judge(got), **failing}


def _passed(got: Grade, side: str) -> int:
    return sum(word == CaseWord.AC for word in got.details["cases"][side].values())


def _failing(got: Grade) -> dict[str, str]:
    """Cases of both sides that do not pass, with their words."""
    words = (both for side in SIDES for both in got.details["cases"][side].items())
    return {case: word for case, word in words if word != CaseWord.AC}


def _all_pass(got: Grade) -> str:
    failing = [f"{case} {word}" for case, word in _failing(got).items()]
    if failing:
        return f"{len(failing)} cases fail, the first is {failing[0]} ({got.word}: {got.reason})"
    return "" if got.reward == 1 else f"reward {got.reward}, wanted 1"


def _only_fails(bench: Bench, got: Grade, at: str) -> str:
    failing = [case for case, word in got.details["cases"]["held_out"].items() if word != CaseWord.AC]
    if failing != [at]:
        return f"wanted exactly {at} to fail, {len(failing)} do: {' '.join(failing[:3])}"
    return (
        "" if got.reward < 1 or bench.sides.plan.reward == "threshold" else f"reward {got.reward}, wanted less than 1"
    )


def _replayed(bench: Bench) -> Grade:
    """The oracle where the verifier runs it."""
    facts = codec.load(bench.job.inputs["facts.json"], OracleFacts)
    tree = bench.job.scratch / "oracle"
    write_tree(str(tree), read_tar(bench.job.inputs["oracle.tar"]))
    return bench.replay(Oracle(tree=tree, program=facts.program))


def help_text(bench: Bench) -> bytes:
    """The tool's help as the documentation has it: the first file that is named after it, else the longest one."""
    docs = {path: e.content for path, e in read_bundle(bench.bundle).items() if path.startswith(DOCS)}
    named = [docs[path] for path in sorted(docs) if HELP in path.rpartition("/")[2].lower()]
    return next(iter(named), max(docs.values(), key=len, default=b""))
