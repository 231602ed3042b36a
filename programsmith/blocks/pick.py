"""pick: which candidate becomes the task. By rule: the best score among those of the tool that the spec names.

A model, where the spec names one and there are several, chooses among these very candidates; where its answer does not
hold, the rule does. In: candidates, spec.task.tool, spec.review, what was approved. Out: candidate.json with reasons.
Says none_fit, naming what exists, where the tool is none of the candidates'; parked, with the command that goes on,
where a person is to look first.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from programsmith.job import Job
from programsmith.models.ask import Asked, questions
from programsmith.models.request import Section
from programsmith.records import codec
from programsmith.records.lock import Candidate
from programsmith.records.outcome import Outcome, Word
from programsmith.verdict.review import go_on, proposal

MOST_BYTES = 1 << 20


def run(job: Job) -> Outcome:
    """Pick, and write the candidate."""
    found = codec.load(job.inputs["candidates.json"], tuple[Candidate, ...])
    tool = job.spec("task.tool", object)
    own, fits = questions(job, "pick", job.spec("models.pick", object)), fitting(found, tool)
    asked = own.put(shown(fits), lambda answer: fault(answer, fits)) if own and len(fits) > 1 else None
    outcome, picked = decide(found, tool, asked)
    if picked is None:
        return outcome
    command = go_on(job.spec("name", str), "pick")
    accepted = job.spec("approved.pick", object) == proposal(picked)
    if "pick" in job.spec("review", list) and not accepted:
        return Outcome(
            word=Word.PARKED,
            reason=f"{outcome.reason}; review asks for a person: {command}",
            evidence={**outcome.evidence, "command": command, "proposal": proposal(picked)},
        )
    codec.dump(job.outputs["candidate.json"], picked)
    return outcome


def fitting(found: Sequence[Candidate], tool: object) -> list[Candidate]:
    """Candidates of the tool that the spec names, all of them where it names none."""
    return [c for c in found if tool in (None, c.tool)]


def shown(found: Sequence[Candidate]) -> list[Section]:
    """What a model is shown of the candidates: their numbers and facts."""
    rows = [
        {
            "number": number,
            "tool": c.tool,
            "target_language": c.target_language,
            "source_language": c.source_language,
            "lines": c.code_lines,
            "options": c.options,
            "score": c.score,
            "reasons": list(c.reasons),
        }
        for number, c in enumerate(found)
    ]
    return [Section(name="candidates", content=json.dumps(rows, indent=1), most=MOST_BYTES)]


def fault(answer: Any, found: Sequence[Candidate]) -> str:
    """Why a choice does not hold."""
    return "" if answer["choice"] < len(found) else f"choice: wanted 0 to {len(found) - 1}, got {answer['choice']}"


def decide(found: Sequence[Candidate], tool: object, asked: Asked | None = None) -> tuple[Outcome, Candidate | None]:
    """The outcome, and the candidate that it names. `found` is best first, as the matrix leaves it."""
    fits = fitting(found, tool)
    tools = sorted({c.tool for c in found})
    if not fits:
        reason = f"task.tool: wanted one of {', '.join(tools)}, got {tool}"
        return Outcome(word=Word.NONE_FIT, reason=reason, evidence={"tools": tools}), None
    chosen = asked.answer if asked else None
    best = fits[chosen["choice"]] if chosen else fits[0]
    by = "by score" if best.score == max(c.score for c in fits) else "as they are ordered"
    why = "the spec names it" if tool is not None else f"best of {len(found)} {by}"
    if chosen and asked:
        why = f"{asked.model} chose it of {len(fits)}"
    picked = dataclasses.replace(best, reasons=(*best.reasons, f"picked: {why}, score {best.score:.2f}"))
    reason = f"{best.tool} in {best.target_language} ({best.code_lines} lines, {best.options} options): {why}"
    evidence = {"tools": tools, "considered": len(found), "score": best.score, "reasons": list(picked.reasons)}
    if asked:
        evidence["model"] = {**asked.evidence, "why": chosen["why"] if chosen else ""}
    return Outcome(word=Word.PICKED, reason=reason, evidence=evidence), picked
