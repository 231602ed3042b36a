"""A block's question: put, answered, checked, put again with the fault named, at last left to the rule.

In: what of a job a question needs, the block, the model that the spec names, data, a check. Out: Asked, with the answer
or why there is none; None where the spec names no model: then nothing is asked. Raises what `complete` raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from programsmith.models.answer import Check, answer
from programsmith.models.request import Complete, Request, Section, cut, plain, shown, system

AGAIN = (
    "Your answer was:\n\n{said}\n\nIt does not hold: {fault}\nAnswer again, with the whole JSON value and nothing else."
)


class Work(Protocol):
    """What of a job a question needs."""

    @property
    def rules(self) -> Callable[[str], Any]:
        """Rule files by name."""

    @property
    def complete(self) -> Complete | None:
        """Who answers."""

    @property
    def say(self) -> Callable[[str], None]:
        """Where the block's lines go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of a question: `answer`, None where none held and `fault` says why. `calls` were made for it."""

    model: str
    answer: Any
    calls: int
    fault: str

    @property
    def evidence(self) -> dict[str, Any]:
        """For the block's evidence: who was asked, how often, and why the rule decided where it did."""
        return {"name": self.model, "calls": self.calls, "used": self.answer is not None, "fault": self.fault}


@dataclass(frozen=True, slots=True)
class Questions:
    """All questions of one run of a block to one model."""

    work: Work
    block: str
    model: str
    rule: Mapping[str, Any]

    @property
    def most(self) -> int:
        """How many may be put."""
        return int(self.rule["blocks"][self.block]["calls"])

    @property
    def room(self) -> int:
        """How many bytes of data one may show."""
        return int(self.rule["blocks"][self.block]["data_bytes"])

    def put(self, sections: Sequence[Section], check: Check, number: int = 0) -> Asked:
        """Put one question. `number` counts the calls of the run before it."""
        row = self.rule["blocks"][self.block]
        schema = self.work.rules(answer_rule(self.block))
        told = system(self.work.rules(prompt_rule(self.block)), schema)
        data = shown(sections, row["data_bytes"])
        turns: tuple[tuple[str, str], ...] = (("user", data),)
        assert self.work.complete is not None
        fault = ""
        for tried in range(1, self.rule["repairs"] + 2):
            reply = self.work.complete(
                Request(
                    block=self.block,
                    number=number + tried - 1,
                    model=self.model,
                    system=told,
                    turns=turns,
                    answer_tokens=row["answer_tokens"],
                )
            )
            if reply.fault:
                return self._none(f"the model gave no answer ({reply.fault})", tried)
            value, fault = answer(reply.text, schema, check)
            if not fault:
                return Asked(model=self.model, answer=value, calls=tried, fault="")
            self.work.say(f"{self.model}: answer {tried} does not hold: {fault}")
            said = cut(plain(reply.text), self.rule["answer_bytes"])
            turns = (("user", f"{data}\n{AGAIN.format(said=said, fault=fault)}"),)
        return self._none(fault, self.rule["repairs"] + 1)

    def _none(self, fault: str, calls: int) -> Asked:
        self.work.say(f"{self.model}: no answer holds, so the rule decides: {fault}")
        return Asked(model=self.model, answer=None, calls=calls, fault=fault)


def questions(work: Work, block: str, model: object) -> Questions | None:
    """The questions of a block to `model`, as the spec names it; None where it names none."""
    return None if model is None else Questions(work, block, str(model), work.rules("asks"))


def prompt_rule(block: str) -> str:
    """The rule that holds what the block asks."""
    return f"prompts/{block}.md"


def answer_rule(block: str) -> str:
    """The rule that holds the schema of its answer."""
    return f"schema/answer_{block}.json"
