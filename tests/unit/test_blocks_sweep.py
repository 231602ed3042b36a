"""sweep as a block: trials beyond those of rollouts, through real files and the real rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from programsmith.blocks import sweep
from programsmith.bundle.manifest import Manifest
from programsmith.compiler.plan import STEP
from programsmith.job import Job, Rules, Tracked
from programsmith.records import codec
from programsmith.records.outcome import Outcome, Record, Word
from programsmith.records.trial import Assignment, Grade, Stop, Trial
from programsmith.rulebook.load import Rulebook
from programsmith.verdict.attempts import rows
from tests.samples.stock import SPLIT, STOCK

BAND = {"basis": "sweep", "pass_rate": {"min": 0.0, "max": 0.4}, "confidence": 0.75, "trials_max": 9}
Tried = list[tuple[Assignment, list[Record]]]
ENTRIES = [{"agent": "command", "model": "o/m", "trials": 6}]


def which(index: int, agent: str = "command", *, ceiling: bool = False) -> Assignment:
    return Assignment(agent=agent, model="o/m", index=index, batch=0, ceiling=ceiling)


def left(asked: Assignment, failing: tuple[str, ...], shown: tuple[str, ...] = ()) -> list[Record]:
    """The records of a trial and its grade."""
    artifact = f"{asked.folder} {failing}"
    words = {case: "WA_STDOUT" if case in failing else "AC" for case in SPLIT.held_out}
    trial = Trial(
        key=artifact, pair=asked.pair, index=asked.index, ceiling=asked.ceiling, stop=Stop.DONE, artifact=artifact,
        calls=0, tokens_in=0, tokens_out=0, usd=0.0, seconds=1.0,
    )  # fmt: skip
    public = {case: "WA_STDOUT" if case in shown else "AC" for case in SPLIT.public}
    grade = Grade(
        key="g", artifact=artifact, reward=float(not failing), word="WA_STDOUT" if failing else "AC", held_out=words,
        public=public,
    )  # fmt: skip
    return [_record("trial", codec.encode(trial)), _record("grade", codec.encode(grade))]


def _record(block: str, evidence: Any) -> Record:
    return Record(block=block, outcome=Word.DONE, reason="", evidence=evidence, inputs={}, seconds=0.0)


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def ran(tried: Tried, before: list[dict[str, Any]], *, asks: Any = ENTRIES) -> Outcome:
        step = STEP["sweep"]
        manifest = Manifest(
            tree="", files={}, public=SPLIT.public, held_out=SPLIT.held_out, families={}, tool="t",
            target_language="c", exec_allowed=(), solution="source", waived="",
        )  # fmt: skip
        (tmp_path / "r").mkdir(exist_ok=True)
        codec.dump(tmp_path / "r" / "manifest.json", manifest)
        codec.dump(tmp_path / "kills.json", STOCK.kills)
        codec.dump(tmp_path / "discovery.json", STOCK.discovery)
        codec.dump_lines(tmp_path / "pool.jsonl", STOCK.pool.values())
        records = {f"{r.block} {n}": r for n, r in enumerate(r for _, pair in tried for r in pair)}
        outcome = sweep.run(
            Job(
                spec=Tracked("spec field", {"difficulty": [BAND], "sweep": asks}, step.spec),
                rules=Rules(Rulebook(None).load, step.rules),
                inputs={name: tmp_path / name for name in step.reads},
                outputs={},
                scratch=tmp_path,
                project=tmp_path,
                store=tmp_path,
                dist=tmp_path,
                trials=tuple(asked for asked, _ in tried),
                records={**records, "rollouts": _record("rollouts", {"trials": before, "infra": []})},
            )
        )
        assert outcome.word in step.says
        return outcome

    return ran


def tries(passes: int, of: int) -> Tried:
    """The first `passes` of `of` trials pass; the others fail a case that a public one shows."""
    return [(which(i), left(which(i), *(((),) if i < passes else (("one2",), ("one0",))))) for i in range(of)]


def test_a_spec_without_a_sweep_passes(run: Any) -> None:
    assert run([], [], asks=None).word is Word.IN_BAND


@pytest.mark.parametrize(
    ("passes", "word"), [(0, Word.IN_BAND), (6, Word.HARDEN), (3, Word.MORE)], ids=["few", "all", "undecided"]
)
def test_bands_on_the_sweep_are_judged_on_its_trials(run: Any, passes: int, word: Word) -> None:
    solved = rows(left(which(0, "nop"), ()), [which(0, "nop")])
    outcome = run(tries(passes, 6), solved)
    assert outcome.word is word
    assert len(outcome.evidence["trials"]) == len(outcome.evidence["labels"]["trials"]) == 6
    assert outcome.evidence["bands"][0]["n"] == 6
    assert outcome.evidence["shared"] == 0


def test_trials_that_rollouts_asked_for_too_are_counted_as_shared(run: Any) -> None:
    tried = tries(2, 6)
    before = rows([record for _, pair in tried[:4] for record in pair], [asked for asked, _ in tried[:4]])
    assert run(tried, before).evidence["shared"] == 4


def test_trials_of_rollouts_show_that_a_case_can_be_passed_but_do_not_count(run: Any) -> None:
    failing = [(which(i), left(which(i), ("two2",))) for i in range(6)]
    solved = rows(left(which(0, "nop"), ()), [which(0, "nop")])
    outcome = run(failing, solved)
    assert outcome.word is Word.IN_BAND
    assert {t["label"] for t in outcome.evidence["labels"]["trials"]} == {"good_failure"}
    assert outcome.evidence["tallies"] == [
        {"pair": "command/o/m", "k": 0, "n": 6, "bought": 6, "interval": [0.0, 0.3903]}
    ]


def test_a_failure_that_nobody_could_avoid_is_a_defect(run: Any) -> None:
    ceiling = which(0, "nop", ceiling=True)
    knowing = rows(left(ceiling, ("two2",)), [ceiling])
    outcome = run([(which(i), left(which(i), ("two2",))) for i in range(6)], knowing)
    assert outcome.word is Word.DEFECT
    assert outcome.reason.startswith("6 of 6 trials: command/o/m:0 is bad_failure")


def test_a_trial_without_a_grade_counts_nowhere(run: Any) -> None:
    tried = tries(0, 6)
    tried[5] = (tried[5][0], tried[5][1][:1])
    outcome = run(tried, rows(left(which(0, "nop"), ()), [which(0, "nop")]))
    assert outcome.evidence["labels"]["infra"] == {"command/o/m:5": "no grade"}
    assert outcome.evidence["tallies"][0]["n"] == 5
