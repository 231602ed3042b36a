"""matrix: every possible task of the source, scored by how long a task it would be.

In: lock, source, the languages that the spec allows, its description. Out: candidates.json, best first. The same
inputs give the same order: score, then the order of entry points in the lock and of languages in the spec. A model,
where the spec names one and there are several, orders them and leaves some out; it names no other, and counts nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from programsmith.bundle.controls import targets
from programsmith.errors import InputError
from programsmith.job import Job
from programsmith.models.ask import questions
from programsmith.models.request import Section
from programsmith.records import codec
from programsmith.records.lock import Candidate, EntryPoint, Lock
from programsmith.records.outcome import Outcome, Word
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.scope import Scope, scope_of

WHOLE = "program"
ANY = "any"
README = re.compile(rb"(?i)[^/]*\b(readme|usage|manual)[^/]*\Z")
"""Texts of the repository's top folder that a model is shown."""
TEXTS, SHARE = 3, 12000
"""How many, and the bytes of each part that it is shown."""


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
    _require_targets(languages)
    suffixes = toolchains(job.rules("toolchains"))[lock.language].suffixes
    scopes = [(e, scope_of(tree, e, lock.language, suffixes)) for e in lock.entry_points]
    wish = Wish(languages=languages, description=job.spec("description", str))
    own = questions(job, "matrix", job.spec("models.matrix", object))
    found = candidates(lock, scopes, wish, job.rules("candidates"))
    if not found:
        return Outcome(word=Word.NONE_FIT, reason="the source has no entry point with a line of code in scope")
    asked = None
    if own and len(found) > 1:
        asked = own.put(sections(found, languages, wish.description, tree), lambda told: fault(told, found))
    kept = proposed(found, asked.answer) if asked and asked.answer else found
    codec.dump(job.outputs["candidates.json"], kept)
    best = kept[0]
    return Outcome(
        word=Word.PASS,
        reason=f"{len(kept)} candidates; best {best.tool} in {best.target_language}, score {best.score:.2f}",
        evidence={"candidates": [[c.tool, c.target_language, c.scope, c.score] for c in kept]}
        | ({"model": asked.evidence, "by_rule": len(found)} if asked else {}),
    )


def sections(found: Sequence[Candidate], languages: Sequence[str], description: str, tree: SourceTree) -> list[Section]:
    """What a model is shown: the facts of every candidate, and texts of the repository."""
    facts = {c.tool: {"lines": c.code_lines, "options": c.options, "declared": c.entry.how} for c in found}
    names = b"\n".join(entry.path for entry in tree.files())
    texts = [entry.content for entry in tree.files() if README.match(entry.path)]
    return [
        Section(name="programs", content=json.dumps(facts, indent=1), most=SHARE),
        Section(name="target languages", content=json.dumps(languages), most=SHARE),
        Section(name="description by the spec's owner", content=description, most=SHARE),
        *(Section(name="a text of the repository", content=text, most=SHARE) for text in texts[:TEXTS]),
        Section(name="file names of the repository", content=names, most=SHARE),
    ]


def fault(told: Any, found: Sequence[Candidate]) -> str:
    """The first proposal that is none of what the lock and the spec allow."""
    known = {(c.tool, c.target_language) for c in found}
    for row in told["candidates"]:
        if (row["tool"], row["target_language"]) not in known:
            allowed = ", ".join(f"{tool} in {language}" for tool, language in sorted(known))
            return f"candidates: wanted some of {allowed}; got {row['tool']!r} in {row['target_language']!r}"
    return ""


def proposed(found: Sequence[Candidate], told: Any) -> tuple[Candidate, ...]:
    """The candidates that a model proposes, in its order, each once, with what it says of them."""
    known = {(c.tool, c.target_language): c for c in found}
    said = {(row["tool"], row["target_language"]): row["why"] for row in reversed(told["candidates"])}
    order = dict.fromkeys((row["tool"], row["target_language"]) for row in told["candidates"])
    return tuple(replace(known[pair], reasons=(*known[pair].reasons, f"proposed: {said[pair]}")) for pair in order)


def _require_targets(languages: Sequence[str]) -> None:
    """Raise InputError for a language that no task can be in, before anything is built for it."""
    known = targets()
    for language in languages:
        if language not in (*known, ANY):
            raise InputError(f"task.target_languages: wanted some of {', '.join(known)}, got {language!r}")


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
