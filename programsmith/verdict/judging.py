"""What a judge's word on a trial is worth: an annotation beside the label, and only with quotations that are there.

In: a trial's transcript, what was said of each piece of it. Out: a Judgement. It changes no label: those are proven or
lacking without it. A quotation that no line of the agent's record holds byte by byte makes the piece unlabelled, like a
label that the grade contradicts, pieces that disagree, or a trial that was not read whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.records.labels import Labelled
from programsmith.records.trial import Label

SUCCESSES = frozenset({Label.GOOD_SUCCESS, Label.BAD_SUCCESS})
FAILURES = frozenset({Label.GOOD_FAILURE, Label.BAD_FAILURE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge says of one trial. `quotes` stand in its transcript; `fault` says why it is unlabelled where it is.

    `agrees` tells whether the label that was proven is the same; None where either has none.
    """

    trial: str
    label: Label
    quotes: tuple[str, ...]
    why: str
    fault: str
    agrees: bool | None
    calls: int


def lines(transcript: Mapping[str, Any]) -> list[str]:
    """What the agent did and saw, in order: its own words, its commands, what they wrote. Not what it was told."""
    found: list[str] = []
    for step in transcript.get("steps", ()):
        if step.get("source") != "agent":
            continue
        texts = [step.get("message"), step.get("reasoning_content")]
        for call in step.get("tool_calls") or ():
            texts += [_said(call.get("arguments"))]
        texts += [result.get("content") for result in (step.get("observation") or {}).get("results", ())]
        found += [text for text in texts if isinstance(text, str) and text]
    return found


def _said(arguments: Any) -> str:
    """A call's words as one line."""
    values = arguments.values() if isinstance(arguments, Mapping) else ()
    words = [word for value in values for word in (value if isinstance(value, list) else [value])]
    return " ".join(str(word) for word in words)


def fault_of(told: Mapping[str, Any], passed: bool, record: Sequence[str]) -> str:  # noqa: FBT001 - a fact of the trial
    """Why what was said of a piece does not hold."""
    label = Label(told["label"])
    if label in (FAILURES if passed else SUCCESSES):
        return f"label: the attempt {'passed' if passed else 'failed'}, so it is no {label}"
    if label is not Label.UNLABELLED and not told["quotes"]:
        return f"quotes: wanted at least one for {label}, got none"
    for quote in told["quotes"]:
        if not any(quote.encode() in line.encode("utf-8", "surrogatepass") for line in record):
            return f"quotes: {quote[:80]!r} stands in no line of the record"
    return ""


def joined(trial: Labelled, told: Sequence[Mapping[str, Any]], faults: Sequence[str], calls: int) -> Judgement:
    """One judgement of what was said of all pieces of a trial; `faults` are why some have none."""
    labels = {Label(one["label"]) for one in told} - {Label.UNLABELLED}
    fault = next(iter(faults), "")
    if not fault and len(labels) > 1:
        fault = f"its pieces disagree: {', '.join(sorted(labels))}"
    label = next(iter(labels)) if len(labels) == 1 and not fault else Label.UNLABELLED
    shown = [one for one in told if Label(one["label"]) is label]
    known = Label.UNLABELLED not in (label, trial.label)
    return Judgement(
        trial=f"{trial.pair.agent}/{trial.pair.model}:{trial.index}" + (" (ceiling)" if trial.ceiling else ""),
        label=label,
        quotes=tuple(quote for one in shown for quote in one["quotes"]) if not fault else (),
        why=" ".join(one["why"] for one in shown) if not fault else "",
        fault=fault,
        agrees=label is trial.label if known else None,
        calls=calls,
    )
