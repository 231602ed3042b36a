"""matrix: every possible task of the source, scored by how long a task it would be.

In: lock, source, the languages that the spec allows, its description. Out: candidates.json, best first. The same
inputs give the same order: score, then the order of entry points in the lock and of languages in the spec.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from programsmith.job import Job
from programsmith.records import codec
from programsmith.records.lock import Candidate, EntryPoint, Lock
from programsmith.records.outcome import Outcome, Word
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.scope import Scope, scope_of

WHOLE = "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the spec says of the task: target languages (`any` alone: every toolchain), free text."""

    languages: tuple[str, ...]
    description: str


def run(job: Job) -> Outcome:
    """Write the candidates, or say none_fit where there is none."""
    lock = codec.load(job.inputs["lock.json"], Lock)
    tree = SourceTree.open(job.inputs["source.tar"])
    asked = job.spec("task.target_languages", object)
    languages = tuple(asked) if isinstance(asked, list) else (str(asked or lock.language),)
    suffixes = toolchains(job.rules("toolchains"))[lock.language].suffixes
    scopes = [(e, scope_of(tree, e, lock.language, suffixes)) for e in lock.entry_points]
    wish = Wish(languages=languages, description=job.spec("description", str))
    found = candidates(lock, scopes, wish, job.rules("candidates"))
    if not found:
        return Outcome(word=Word.NONE_FIT, reason="the source has no entry point with a line of code in scope")
    codec.dump(job.outputs["candidates.json"], found)
    best = found[0]
    return Outcome(
        word=Word.PASS,
        reason=f"{len(found)} candidates; best {best.tool} in {best.target_language}, score {best.score:.2f}",
        evidence={"candidates": [[c.tool, c.target_language, c.scope, c.score] for c in found]},
    )


def candidates(
    lock: Lock, scopes: Sequence[tuple[EntryPoint, Scope]], wish: Wish, rule: Mapping[str, Any]
) -> tuple[Candidate, ...]:
    """One candidate per entry point and target language, best first."""
    found = [
        _candidate(lock, entry, scope, language, (wish, rule))
        for entry, scope in scopes
        for language in wish.languages
        if scope.code_lines
    ]
    return tuple(sorted(found, key=lambda c: -c.score))  # sorted is stable: equal scores keep the order above


def _candidate(
    lock: Lock, entry: EntryPoint, scope: Scope, language: str, by: tuple[Wish, Mapping[str, Any]]
) -> Candidate:
    wish, rule = by
    facts = {
        "lines": scope.code_lines,
        "options": len(scope.options),
        "subcommands": len(scope.subcommands),
        "described": int(_names(wish.description, entry.tool)),
    }
    return Candidate(
        tool=entry.tool,
        target_language=language,
        source_language=lock.language,
        entry=entry,
        scope=WHOLE,
        code_lines=scope.code_lines,
        options=len(scope.options),
        score=round(sum(_worth(facts[name], rule[name]) for name in facts), 4),
        reasons=tuple(_reasons(facts, rule)),
    )


def _worth(value: int, fact: Mapping[str, Any]) -> float:
    weight, full = float(fact["weight"]), int(fact["full"])
    return weight * min(1.0, value / full)


def _reasons(facts: Mapping[str, int], rule: Mapping[str, Any]) -> Iterator[str]:
    for name, value in facts.items():
        yield f"{name} {value}: {_worth(value, rule[name]):.3f} of {rule[name]['weight']}"


def _names(description: str, tool: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(tool)}(?![\w-])", description) is not None
