"""Does an environment ship? q = b·v·h·¬s over what the blocks said.

In: the settled records, the routes, what the spec asks for. Out: a Verdict. Pure. Refuses (ValueError) records of
which neither a "no" nor every judging block is among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from programsmith.records.outcome import Record, Word
from programsmith.records.verdict import Verdict
from programsmith.verdict.review import go_on
from programsmith.verdict.routes import Go, Routes

JUDGES: Mapping[str, tuple[str, ...]] = {
    "b": ("images", "sanity"),
    "v": ("strength", "sanity", "static", "triage"),
    "h": ("calibrate", "sweep"),
    "not_s": ("probe",),
}
NO_MODEL = "none"  # what the probe says where no model drove an adversary
TRIED = ("triage", "calibrate", "sweep")  # blocks that judge trials: without any they have nothing to say
BUNDLE = "r/bundle/"
NULL = "null_"  # sanity's controls of this name are programs without sense: they speak against v, the others against b


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the spec asks for, and the size of what it got: `lines` are the code lines in scope, None if unknown.

    `rule` is rules/acceptance.yaml: its horizon holds unless a spec lowers it. `review` says that a person looks at the
    gate. `models`: real models try, so that a model must have probed too. `proven` has for a backend the digest of the
    bundle that was proven there besides, and the fingerprint of that place.
    """

    name: str
    rollouts: bool
    review: bool
    lines: int | None
    min_lines: int
    rule: Mapping[str, Any]
    sweep: bool = False
    models: bool = False
    revision: int = 0
    proven: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def judged(self) -> tuple[str, ...]:
        """Blocks of TRIED that have trials to judge."""
        return tuple(b for b in TRIED if self.tried and (b != "sweep" or self.sweep))

    @property
    def tried(self) -> bool:
        """Whether the spec asks for any trials."""
        return self.rollouts or self.sweep


def factor(blocks: Iterable[str], name: str, records: Mapping[str, Record], routes: Routes) -> int | None:
    """0 where one of the blocks said no, 1 where all said yes, None where one is not settled or there is none."""
    settled = [_yes(name, records[b], routes) if b in records else None for b in blocks]
    if 0 in settled:
        return 0
    return None if None in settled or not settled else 1


def product(factors: Iterable[int | None]) -> int | None:
    """The quality q that the factors make."""
    known = list(factors)
    if 0 in known:
        return 0
    return None if None in known else 1


def verdict(records: Mapping[str, Record], routes: Routes, asked: Asked) -> Verdict:
    """The verdict over all settled records. Raises ValueError where a judging block has not settled."""
    factors = {name: _factor(name, records, routes, asked) for name in JUDGES}
    q = product(factors.values())
    outcome, reasons = _ended(records, routes, asked) or _passed(factors, q, asked)
    return Verdict(
        outcome=outcome,
        q=q,
        b=factors["b"],
        v=factors["v"],
        h=factors["h"],
        not_s=factors["not_s"],
        revision=asked.revision,
        environments=_environments(records, asked.proven),
        reasons=(*reasons, *_unprobed(records, asked), *_lowered(asked), *_warned(records), *_drifted(records)),
    )


def _factor(name: str, records: Mapping[str, Record], routes: Routes, asked: Asked) -> int | None:
    """One factor. Trials without a label speak against v; how much of the probe was open against not_s."""
    blocks = [b for b in JUDGES[name] if b not in TRIED or b in asked.judged]
    found = factor(blocks, name, records, routes)
    if name == "v" and found == 1 and _unlabelled(records, asked) > asked.rule["unlabelled_max"]:
        return 0
    if name == "not_s" and found == 1:
        evidence = records["probe"].evidence
        told: int | None = evidence.get("not_s", 1)
        return None if asked.models and _tries(records) == NO_MODEL else told
    return found


def _tries(records: Mapping[str, Record]) -> str:
    """What the tries of a model's adversary came to, as `k/n`; NO_MODEL where none says anything."""
    return str(records["probe"].evidence.get("counts", {}).get("model", NO_MODEL))


def _unlabelled(records: Mapping[str, Record], asked: Asked) -> float:
    """The largest share of trials without a label, in 0..1."""
    shares = (records[b].evidence.get("unlabelled", 0.0) for b in asked.judged if b in records)
    return max(shares, default=0.0)


def _yes(name: str, record: Record, routes: Routes) -> int:
    """0 where the block said no, unless the controls that failed count against another factor."""
    if routes.goes_on(record.block, record.outcome):
        return 1
    failed = [row["id"] for row in record.evidence.get("controls", ()) if row["fault"]]
    against = {"v" if control.startswith(NULL) else "b" for control in failed} or {name}
    return int(name not in against)


def _ended(records: Mapping[str, Record], routes: Routes, asked: Asked) -> tuple[Word, list[str]] | None:
    """The end that the first "no" leads to, and every "no" as a reason; None where all blocks go on.

    A "no" for which no revision is left ends on the shelf that the rule has for its word.
    """
    order = list(dict.fromkeys(block for (block, _), _ in routes))
    stops = [records[b] for b in order if b in records and not routes.goes_on(b, records[b].outcome)]
    if not stops:
        return None
    reasons = [f"{r.block}_{r.outcome}: {r.reason}" for r in stops]
    route = routes.route(stops[0].block, stops[0].outcome)
    if route.go is Go.END and route.outcome is not None:
        return route.outcome, reasons
    if "synthesize" not in records:
        reasons.append(f"no_revision: revision {asked.revision} is the last that the spec allows")
    shelf = asked.rule["shelves"].get(stops[0].outcome.value, Word.DROP.value)
    return Word(shelf), reasons


def _passed(factors: Mapping[str, int | None], q: int | None, asked: Asked) -> tuple[Word, list[str]]:
    open_factors = [name for name in ("b", "v") if factors[name] is None]
    if open_factors:
        blocks = ", ".join(dict.fromkeys(b for name in open_factors for b in JUDGES[name]))
        raise ValueError(f"gate: wanted the records of {blocks}, got not all of them")
    if asked.review:
        return Word.PARKED, [f"review: a person is to look at the evidence: {go_on(asked.name, 'gate')}"]
    missing = list(_short(asked))
    if missing or q is None:
        return Word.DRAFT, [*missing, *_unjudged(factors, asked)]
    if q == 0:
        low = ", ".join(name for name, value in factors.items() if value == 0)
        return Word.DROP, [f"refused: {low} is 0 though every block goes on"]
    return Word.SHIP, ["accepted: every factor is 1"]


def _unjudged(factors: Mapping[str, int | None], asked: Asked) -> list[str]:
    names = [name for name, value in factors.items() if value is None]
    if not names:
        return []
    why = "no block has judged" if asked.tried else "the spec asks for no rollouts; unproven:"
    code = "unjudged" if asked.tried else "no_rollouts"
    return [f"{code}: {why} {', '.join(names)}"]


def _short(asked: Asked) -> Iterable[str]:
    if asked.lines is not None and asked.lines < asked.min_lines:
        yield f"short_horizon: {asked.lines} code lines in scope, horizon.min_lines wants {asked.min_lines}"


def _unprobed(records: Mapping[str, Record], asked: Asked) -> Iterable[str]:
    """Whether real models try and no model's attack says anything of the task."""
    if asked.models and "probe" in records and _tries(records) == NO_MODEL:
        yield "unprobed: real models try, and no try of `probe.model` says whether one can score without solving"


def _lowered(asked: Asked) -> Iterable[str]:
    usual = asked.rule["horizon_min_lines"]
    if asked.min_lines < usual:
        yield f"horizon_lowered: the spec lowers horizon.min_lines from {usual} to {asked.min_lines}"


def _warned(records: Mapping[str, Record]) -> Iterable[str]:
    """What calibrate warns of."""
    if "calibrate" in records:
        yield from records["calibrate"].evidence.get("warnings", ())


def _drifted(records: Mapping[str, Record]) -> Iterable[str]:
    """Whether the place is another one than an earlier build of the same bundle had."""
    if "images" in records and (former := records["images"].evidence.get("drift")):
        yield f"drift: the place was {', '.join(p[:12] for p in former)} before; every artifact is graded in this one"


def _environments(records: Mapping[str, Record], proven: Mapping[str, Mapping[str, str]]) -> tuple[dict[str, str], ...]:
    """Where images found or made the environment, as its evidence says; then where this bundle was proven besides."""
    if "images" not in records:
        return ()
    record = records["images"]
    own = {key: str(record.evidence[key]) for key in ("kind", "fingerprint") if key in record.evidence}
    more = [
        {"kind": kind, "fingerprint": proof["fingerprint"]}
        for kind, proof in sorted(proven.items())
        if proof["bundle"] == record.inputs.get(BUNDLE) and kind != own.get("kind")
    ]
    return (*((own,) if own else ()), *more)
