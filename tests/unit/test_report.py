"""The report of a spec: what its records say, and how a person reads it."""

from __future__ import annotations

from typing import Any

import pytest

from programsmith.compiler.verbs.reading import emit
from programsmith.records.outcome import Record, Word
from programsmith.records.revision import Lineage, Move, Operation
from programsmith.report.evidence import lines
from programsmith.report.found import Revision, Spending, found, spend
from programsmith.report.table import columns
from programsmith.report.text import text

BAND = {"basis": "rollouts", "pass_rate": [0.05, 0.6], "pair": "scripted/solver", "standing": "in_band"}
SHARES = {"below": 0.04, "inside": 0.94, "above": 0.02}
TALLY = {"pair": "scripted/solver", "k": 1, "n": 6, "bought": 6, "interval": [0.03, 0.56]}
STRENGTH = {
    "mutation_score": 0.82,
    "interval": [0.75, 0.88],
    "mutants": 130,
    "pool_coverage": 0.94,
    "scope_coverage": 0.84,
    "public_kill_ratio": 0.96,
    "null_scores": {"null_help": 0.01},
}
PROBE = {
    "counts": {"scripted": "0/1", "model": "none"},
    "live": 1,
    "defences": 1,
    "not_s": 1,
    "rows": [
        {"id": "floods", "class": "resources", "defence": "output", "live": True, "outcome": "stopped", "reward": 0}
    ],
}


def record(block: str, word: Word, evidence: dict[str, Any] | None = None, reason: str = "so") -> Record:
    return Record(block=block, outcome=word, reason=reason, evidence=evidence or {}, inputs={}, seconds=1.0)


def trial(index: int, label: str, proof: str, cases: tuple[str, ...] = (), *, ceiling: bool = False) -> dict[str, Any]:
    pair = {"agent": "scripted", "model": "solver"}
    own = {"pair": pair, "index": index, "batch": 0, "ceiling": ceiling, "reward": 0.0}
    return own | {"label": label, "proof": proof, "cases": list(cases), "failing": [], "artifact": "a"}


def revisions() -> list[Revision]:
    labels = {
        "trials": [
            trial(0, "good_failure", "public_fails_too", ("c1", "c2", "c3", "c4", "c5")),
            trial(1, "good_success", "no_signal"),
            trial(0, "good_success", "no_signal", ceiling=True),
        ],
        "infra": {"scripted/solver:2": "no grade"},
    }
    judged = {
        "bands": [BAND | SHARES],
        "tallies": [TALLY],
        "solvable": {"by": "trial", "open": []},
        "headroom": {"ceiling": [1, 1], "rollouts": [1, 6], "difference": 0.83, "interval": [-0.05, 0.97]},
    }
    first = {"strength": record("strength", Word.PASS, STRENGTH), "static": record("static", Word.FAIL)}
    second = {
        "strength": record("strength", Word.PASS, STRENGTH | {"public_kill_ratio": None}),
        "sanity": record("sanity", Word.PASS, {"controls": [{"id": "nop", "reward": 0.0, "fault": ""}]}),
        "static": record("static", Word.PASS, {"checks": [{"id": "egress", "passed": True, "reason": "shut", "e": 1}]}),
        "triage": record("triage", Word.DONE, {"labels": labels}),
        "calibrate": record("calibrate", Word.IN_BAND, judged),
        "probe": record("probe", Word.CLEAN, PROBE),
        "gate": record("gate", Word.SHIP, reason="accepted"),
    }
    return [
        Revision(number=0, records=first, decided="static"),
        Revision(number=1, records=second, decided="gate"),
    ]


LINEAGE = Lineage(
    operations=(
        Operation(
            made=1,
            name="drop_case",
            need="fix",
            cause="static fail",
            moves=(Move(case="c9", family="f", old="held_out", new="dropped"),),
            before={"held_out": 30.0, "public": 40.0, "dropped": 0.0},
            after={"held_out": 29.0, "public": 40.0, "dropped": 1.0},
        ),
    )
)
EVENTS = [
    Spending(task="t:r0:b0:trial:command:x:0", kind="reserve", id="1", usd=0.5),
    Spending(task="t:r0:b0:trial:command:x:0", kind="spend", id="1", usd=0.4),
    Spending(task="t:r0:b1:trial:command:x:7", kind="reserve", id="2", usd=0.5),
    Spending(task="t:r0:b1:trial:command:x:7", kind="settle", id="2", usd=0.1),
    Spending(task="t:r1:b0:trial:ceiling:command:x:0", kind="reserve", id="3", usd=0.5),
]
VERDICT = {
    "outcome": "ship", "q": 1, "b": 1, "v": 1, "h": 1, "not_s": None, "revision": 1,
    "environments": [{"kind": "bubblewrap", "fingerprint": "a42ac60cfece4e744a88"}], "reasons": ["accepted: all"],
}  # fmt: skip
PATHS = {"exported": "dist/t", "bundle": None}
TEXT = """\
t: stale from t:r1:gate on; the last finished build said ship at r1
  q 1 = b 1 · v 1 · h 1 · ¬s open
  accepted: all
revisions
  r0  the first bundle
      static said fail: so
  r1  static fail: drop_case moves 1 cases (held_out 30 to 29, dropped 0 to 1)
      gate said ship: accepted
trials
      basis     who              k/n  rate          posterior   band         P below, in, above  standing
  r1  rollouts  scripted/solver  1/6  0.03 to 0.56  Beta(2, 6)  0.05 to 0.6  0.04, 0.94, 0.02    in_band
  r1  shown solvable by a trial; ceiling 1/1, headroom 0.83 [-0.05, 0.97]
labels
  r1  1 good_failure, 2 good_success, 1 infra
  r1  scripted/solver:0            good_failure  public_fails_too: c1, c2, c3 and 2 more
  r1  scripted/solver:1            good_success  no_signal
  r1  scripted/solver:0 (ceiling)  good_success  no_signal
  r1  scripted/solver:2            infra         no grade
"""


def test_a_person_reads_what_the_verdict_rests_on() -> None:
    spec = {"name": "t", "error": None, "verdict": VERDICT, "stale": ["t:r1:gate"], "paths": PATHS}
    said = text(spec | found(revisions(), LINEAGE, EVENTS))
    assert said.startswith(TEXT)
    rest = said.removeprefix(TEXT).splitlines()
    score = "mutation score 0.82 [0.75, 0.88] of 130 mutants, pool coverage 0.94, scope coverage 0.84"
    assert rest[:3] == [
        "strength",
        f"  r0  {score}, public kill ratio 0.96, nulls pass at most 0.010",
        f"  r1  {score}, public kill ratio none, nulls pass at most 0.010",
    ]
    assert "  clean: 1 live adversaries over 1 defences; through: model none, scripted 0/1" in rest
    assert "  floods     resources  output   yes   stopped  0" in rest
    assert "  nop     0     as it must be" in rest
    assert "  egress  pass  shut" in rest
    assert rest[rest.index("spend") :] == [
        "spend",
        "  0.50 usd over 2 calls",
        "  r0 trial command:x  2 calls  0.50 usd",
        "  held 0.50 usd for t:r1:b0:trial:ceiling:command:x:0, id 3",
        "where",
        "  proven in  bubblewrap a42ac60cfece",
        "  exported   dist/t",
    ]


def test_what_is_not_there_is_left_out() -> None:
    spec = {"name": "t", "error": None, "verdict": None, "stale": [], "paths": {}}
    assert text(spec | found([], Lineage(), [])) == "t: no verdict yet"
    wrong = spec | {"error": "specs/t.yaml: broken"} | found([], Lineage(), [])
    assert text(wrong) == "t: error: specs/t.yaml: broken"
    assert text(wrong | {"verdict": VERDICT}).splitlines()[1] == "  the last finished build said ship"
    assert text(spec | {"verdict": VERDICT} | found([], Lineage(), [])).startswith("t: ship at r1\n")


def test_json_holds_every_label_band_and_posterior() -> None:
    value = found(revisions(), LINEAGE, EVENTS)
    assert value["trials"] == [
        {"revision": 1, "basis": "rollouts", **TALLY, "posterior": [2, 6], "bands": [BAND | SHARES]}
    ]
    assert [row["label"] for row in value["labels"]] == ["good_failure", "good_success", "good_success", "infra"]
    assert value["labels"][0]["cases"] == ["c1", "c2", "c3", "c4", "c5"]
    assert value["revisions"][0]["decided"] == {"block": "static", "said": "fail", "reason": "so"}
    assert [op["reason"] for op in value["revisions"][1]["made_by"]] == ["so"]
    assert value["checks"] == [{"id": "egress", "passed": True, "reason": "shut"}]


def test_spending_is_told_by_who_tried() -> None:
    assert spend([Spending(task="t:judge", kind="spend", id="9", usd=1.0)])["by"] == [
        {"who": "judge", "calls": 1, "usd": 1.0}
    ]
    assert spend([]) == {"spent": 0, "held": [], "by": []}


@pytest.mark.parametrize("most", [5, 9, 40])
def test_evidence_fits_its_screen_and_counts_what_it_leaves_out(most: int) -> None:
    evidence = {
        "score": 0.5,
        "rows": [{"id": str(i), "empty": [], "ok": True, "gone": None} for i in range(30)],
        "names": ["a", "b"],
        "deep": {"a": {"b": {"c": {"d": {"e": 1}}}}},
    }
    shown = lines(evidence, most)
    assert len(shown) <= most
    assert shown[:2] == ["score: 0.5", "names: a, b"]
    counts = [line for line in shown if line.startswith("  …")]
    assert len(shown) - len(counts) + sum(int(line.split()[1]) for line in counts) == 38 - (most == 5) * 4
    assert ("  - id 0, ok yes" in shown) == (most > 5)
    assert all(len(line) <= 110 for line in lines({"x": "y" * 500}, 1))


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert columns([["a", "bb", "c"], ["aaa", "b", "cc"], ["x"]]) == ["a    bb  c", "aaa  b   cc", "x"]
    assert columns([]) == []


def test_a_terminal_gets_no_order_that_a_repository_or_a_model_wrote(capsys: pytest.CaptureFixture[str]) -> None:
    emit("said: \x1b[2Jall good\u202e\x9b\n\tnext \u00fc \u6f22")
    assert capsys.readouterr().out == "said: \\x1b[2Jall good\\u202e\\x9b\n\tnext \u00fc \u6f22\n"
