"""The bands of a spec against the trials of a revision: one word, and why.

In: bands, labelled trials, what the rules say. Out: a Judgement. Says `in_band` only where every band holds and the
revision is shown to be solvable. Pure; calibrate judges rollouts with it, sweep its own trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from programsmith.records.labels import Labelled, Labels
from programsmith.records.outcome import Word
from programsmith.records.trial import Label, Pair, pair_of
from programsmith.verdict.calibration import (
    Band,
    Reading,
    Standing,
    Tally,
    judge,
    strongest,
    tallies,
    wants_more,
)
from programsmith.verdict.strength import wilson

WORDS: Mapping[Standing, Word] = {Standing.TOO_EASY: Word.HARDEN, Standing.TOO_HARD: Word.EASE}
PLACES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A band and the trials that it is judged on: `rollouts`, `sweep` or one pair."""

    basis: str | Pair
    band: Band

    @property
    def name(self) -> str:
        """The basis for a person."""
        return self.basis if isinstance(self.basis, str) else f"{self.basis.agent}/{self.basis.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What the rules say: trials of a first batch, agents whose seed decides the artifact, confidence of intervals.

    `unlabelled_max` is the highest share of trials without a label.
    """

    first: int
    repeatable: frozenset[str]
    interval: float
    unlabelled_max: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the trials say of the revision's difficulty."""

    word: Word
    reason: str
    evidence: dict[str, Any]


def rule_of(rules: Callable[[str], Any]) -> Rule:
    """The rule, from the files triage, batches and acceptance."""
    acceptance = rules("acceptance")
    return Rule(
        first=rules("batches")["first"],
        repeatable=frozenset(rules("triage")["repeatable"]),
        interval=acceptance["interval"],
        unlabelled_max=acceptance["unlabelled_max"],
    )


def demands(difficulty: Iterable[Mapping[str, Any]]) -> tuple[Demand, ...]:
    """The bands of a spec, whose defaults are filled in."""
    return tuple(
        Demand(
            basis=pair_of(entry["basis"]) if isinstance(entry["basis"], Mapping) else entry["basis"],
            band=Band(
                low=float(entry["pass_rate"]["min"]),
                high=float(entry["pass_rate"]["max"]),
                confidence=float(entry["confidence"]),
                trials_max=entry["trials_max"],
            ),
        )
        for entry in difficulty
    )


def warnings(wanted: Sequence[Demand], pairs: Iterable[Pair]) -> tuple[str, ...]:
    """What a person should know: a sweep over models with no band that is judged on any of them."""
    swept = sorted({(p.agent, p.model) for p in pairs})
    judged = any(d.basis == "sweep" or any(d.basis == Pair(agent=a, model=m) for a, m in swept) for d in wanted)
    if not swept or judged:
        return ()
    named = ", ".join(f"{agent}/{model}" for agent, model in swept)
    return (f"unbanded_sweep: the sweep over {named} cannot fail: no band of difficulty is judged on it",)


def judge_bands(
    wanted: Sequence[Demand],
    basis: str,
    labels: Labels,
    rule: Rule,
    *,
    before: Sequence[Labelled] = (),
    final: bool = True,
) -> Judgement:
    """Judge the bands on `basis` (`rollouts` or `sweep`) and on single pairs that `labels` holds trials of.

    `before` are trials on another basis of the same revision: each can show that it is solvable. Without `final` a
    later block judges that.
    """
    own = [t for t in labels.trials if not t.ceiling]
    counted = tallies(own, rule.repeatable)
    read = [(demand, of) for demand in wanted if (of := _of(demand, basis, counted))]
    readings = [(demand, judge(of, demand.band)) for demand, of in read]
    solved = solvable(labels, (*before, *own))
    more = [demand for demand, of in read if wants_more(of, demand.band, rule.first)]
    evidence = {
        "bands": [_band(demand, reading, more) for demand, reading in readings],
        "tallies": [_tally(t, rule.interval) for t in counted],
        "solvable": solved,
        "headroom": headroom(labels, rule),
        "unlabelled": round(unlabelled(own), PLACES),
    }
    word, reason = _word(readings, more, evidence, rule, final=final or solved["by"] is not None)
    return Judgement(word=word, reason=reason, evidence=evidence)


def unlabelled(own: Sequence[Labelled]) -> float:
    """Share of trials without a label, in 0..1."""
    return sum(t.label is Label.UNLABELLED for t in own) / len(own) if own else 0.0


def solvable(labels: Labels, own: Iterable[Labelled]) -> dict[str, Any]:
    """Who showed that reward 1 can be had: a trial, or a ceiling trial where the rest can be found out; else null.

    `open` are the held-out cases that no trial without privilege passes and that nothing shows: they are not
    discoverable, or one of those trials passes all public cases of their family and still fails them.
    """
    hidden = {*labels.unshown, *labels.unseen, *labels.untold}
    reached = [set(t.failing) for t in own]
    unreached = set(labels.unreached).intersection(*reached) if reached else set(labels.unreached)
    still_open = sorted(unreached & hidden)
    by = None
    if any(t.passed and t.label is not Label.BAD_SUCCESS for t in own):
        by = "trial"
    elif any(t.ceiling and t.passed for t in labels.trials) and not still_open:
        by = "ceiling"
    return {"by": by, "open": still_open}


def headroom(labels: Labels, rule: Rule) -> dict[str, Any] | None:
    """Ceiling rate less the rate of the strongest pair, with Newcombe's interval; None where either has no trials.

    R. G. Newcombe 1998, method 10: Wilson's intervals of both shares, combined.
    """
    ceiling = [t for t in labels.trials if t.ceiling]
    own = tallies([t for t in labels.trials if not t.ceiling], rule.repeatable)
    if not ceiling or not own:
        return None
    high, low = _pooled(tallies(ceiling, rule.repeatable)), strongest(own)
    a, b = high[0] / high[1], low.k / low.n
    (a_low, a_high), (b_low, b_high) = wilson(*high, rule.interval), wilson(low.k, low.n, rule.interval)
    down = sqrt((a - a_low) ** 2 + (b_high - b) ** 2)
    up = sqrt((a_high - a) ** 2 + (b - b_low) ** 2)
    return {
        "ceiling": list(high),
        "rollouts": [low.k, low.n],
        "difference": round(a - b, PLACES),
        "interval": [round(max(-1.0, a - b - down), PLACES), round(min(1.0, a - b + up), PLACES)],
    }


def _pooled(counted: Sequence[Tally]) -> tuple[int, int]:
    return sum(t.k for t in counted), sum(t.n for t in counted)


def _of(demand: Demand, basis: str, counted: Sequence[Tally]) -> list[Tally]:
    """The tallies that a band is judged on here."""
    if isinstance(demand.basis, str):
        return list(counted) if demand.basis == basis else []
    return [t for t in counted if t.pair == demand.basis]


def _word(
    readings: Sequence[tuple[Demand, Reading]],
    more: Sequence[Demand],
    evidence: Mapping[str, Any],
    rule: Rule,
    *,
    final: bool,
) -> tuple[Word, str]:
    missed = {_missed(reading) for _, reading in readings} - {None}
    unsolved = final and bool(evidence["tallies"]) and evidence["solvable"]["by"] is None
    share = evidence["unlabelled"]
    said = "; ".join(_said(demand, reading) for demand, reading in readings) or "no band is asked for"
    rows = (
        (bool(more), Word.MORE, f"undecided: {', '.join(d.name for d in more)}"),
        (len(missed) > 1, Word.BROKEN, f"the bands contradict each other on these trials: {said}"),
        (Word.HARDEN in missed, Word.HARDEN, said),
        (unsolved, Word.TOO_HARD, f"nothing shows that reward 1 can be had{_unknown(evidence['solvable'])}: {said}"),
        (Word.EASE in missed, Word.EASE, said),
        (share > rule.unlabelled_max, Word.BROKEN, f"{share:.0%} of the trials have no label"),
    )
    return next(((word, why) for holds, word, why in rows if holds), (Word.IN_BAND, said))


def _unknown(solved: Mapping[str, Any]) -> str:
    """Which cases nobody could know, where there are any."""
    cases = solved["open"]
    return f" ({len(cases)} cases that nothing shows, the first is {cases[0]})" if cases else ""


def _missed(reading: Reading) -> Word | None:
    """What a band that does not hold asks for. One that stays undecided does not hold: the heavier side counts."""
    if reading.standing is Standing.IN_BAND:
        return None
    if reading.standing is Standing.UNDECIDED:
        return Word.HARDEN if reading.above > reading.below else Word.EASE
    return WORDS[reading.standing]


def _said(demand: Demand, reading: Reading) -> str:
    t, band = reading.tally, demand.band
    return (
        f"{demand.name}: {t.k} of {t.n} pass against {band.low:g} to {band.high:g}, "
        f"{reading.standing} (P in band {reading.inside:.2f}, wanted {band.confidence:g})"
    )


def _band(demand: Demand, reading: Reading, more: Sequence[Demand]) -> dict[str, Any]:
    t = reading.tally
    return {
        "basis": demand.name,
        "pass_rate": [demand.band.low, demand.band.high],
        "confidence": demand.band.confidence,
        "trials_max": demand.band.trials_max,
        "pair": f"{t.pair.agent}/{t.pair.model}",
        "k": t.k,
        "n": t.n,
        "bought": t.spent,
        "below": round(reading.below, PLACES),
        "inside": round(reading.inside, PLACES),
        "above": round(reading.above, PLACES),
        "standing": reading.standing.value,
        "more": demand in more,
    }


def _tally(t: Tally, confidence: float) -> dict[str, Any]:
    low, high = wilson(t.k, t.n, confidence)
    return {
        "pair": f"{t.pair.agent}/{t.pair.model}",
        "k": t.k,
        "n": t.n,
        "bought": t.spent,
        "interval": [round(low, PLACES), round(high, PLACES)],
    }
