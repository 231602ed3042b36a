"""Strength of a pool: choose how this oracle is built, traced and mutated, then measure. Source in, kills out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.capture import Capture
from programsmith.goldens.expand import Expansion, expand
from programsmith.goldens.strength.compiled_subject import CompiledSubject
from programsmith.goldens.strength.java_subject import JavaSubject
from programsmith.goldens.strength.javascript_subject import JavaScriptSubject
from programsmith.goldens.strength.measure import Way, measure, traced
from programsmith.goldens.strength.provoke import Search
from programsmith.goldens.strength.python_subject import PythonSubject
from programsmith.goldens.strength.subject import Bench, Subject, limits_of
from programsmith.payload.verifier.launcher import Launcher
from programsmith.records.golden import Golden, Kills, Split
from programsmith.records.lock import EntryPoint, Lock, OracleFacts
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.load import toolchains
from programsmith.toolchains.recipe import BuildRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What is measured: the locked source, how it is built and started, and the oracle's tree on the host.

    `rules` holds the rule files `toolchains`, `limits` and `goldens`.
    """

    source: SourceTree
    lock: Lock
    entry: EntryPoint
    facts: OracleFacts
    spec_build: Mapping[str, Any]
    tree: Path
    rules: Mapping[str, Any]


class Workbench:
    """The oracle as something to trace and mutate, built once for all that is asked of a pool. `opened` makes it."""

    def __init__(self, material: Material, subject: Subject, bench: Bench, workers: int) -> None:
        self._rule = material.rules["goldens"]
        self._options = material.facts.options
        self._subject = subject
        self._bench = bench
        self._workers = workers
        self._traces: dict[str, frozenset[str]] = {}
        self._before: frozenset[str] = frozenset()
        self._practised: frozenset[str] = frozenset()

    def lines(self, goldens: Sequence[Golden]) -> Mapping[str, frozenset[str]]:
        """What each case executes, by its id; a case is traced once. Raises InfraError."""
        new = [golden for golden in goldens if golden.id not in self._traces]
        self._traces.update(traced(self._subject, new, self._workers))
        return {golden.id: self._traces[golden.id] for golden in goldens}

    def kills(self, goldens: Sequence[Golden], split: Split) -> Kills:
        """Kills per mutant and lines per case, of mutants that nothing was ever made for. Raises InfraError."""
        return self._measured(goldens, split, practice=False)

    def practice(self, goldens: Sequence[Golden], split: Split) -> Kills:
        """The same of mutants to practise on: `kills` measures none of them afterwards. Raises InfraError."""
        found = self._measured(goldens, split, practice=True)
        self._practised |= {mutant.id for mutant in found.mutants}
        return found

    def _measured(self, goldens: Sequence[Golden], split: Split, *, practice: bool) -> Kills:
        lines = self.lines(goldens)
        seen = [(golden, lines[golden.id]) for golden in goldens]
        rule, workers = self._rule["mutants"], self._workers
        way = Way(rule=rule, workers=workers, before=self._before, practice=practice, practised=self._practised)
        kills = measure(self._subject, self._bench, seen, split, way)
        self._before = self._before or frozenset(kills.line_table)
        return kills

    def expand(self, goldens: Sequence[Golden], capture: Capture) -> Expansion:
        """Mutated inputs of these cases that reach what none of them does. Raises InfraError."""
        subject = self._subject
        reach = subject.reach if isinstance(subject, CompiledSubject) else subject.trace
        return expand(goldens, reach, capture, self._options, self._rule, time.monotonic)

    def provoke(self, goldens: Sequence[Golden], split: Split, kills: Kills, capture: Capture) -> Expansion:
        """Mutated inputs of closed cases under which mutants die that none kills, of those practised on.

        `kills` is what `practice` found. Raises InfraError.
        """
        search = Search(self._subject, self._bench, self._options, self._rule, self._workers)
        return search.run(goldens, split, kills, capture)


@contextmanager
def opened(material: Material, launcher: Launcher, scratch: Path, workers: int) -> Iterator[Workbench]:
    """Build what is traced and mutated. Raises BuildRefusedError, InfraError, PrerequisiteError."""
    limits = limits_of(material.rules["limits"]["capture"])
    bench = Bench(launcher=launcher, facts=material.facts, limits=limits)
    subject = _subject(material, bench, scratch, workers)
    try:
        yield Workbench(material, subject, bench, workers)
    finally:
        subject.close()


def _subject(material: Material, bench: Bench, scratch: Path, workers: int) -> Subject:
    language = material.lock.language
    if language == "python":
        return PythonSubject(bench, material.source, material.tree, scratch)
    toolchain = toolchains(material.rules["toolchains"])[language]
    if language == "javascript":
        return JavaScriptSubject(bench, toolchain, material.entry, material.tree, scratch)
    if toolchain.strength is None and language != "java":
        raise InfraError(f"strength: no way to mutate {language!r}: rules/toolchains.yaml has no `strength` for it")
    request = BuildRequest(
        toolchain=toolchain,
        lock=material.lock,
        entry=material.entry,
        spec_build=material.spec_build,
        limits=limits_of(material.rules["limits"]["build"]),
    )
    generated = material.rules["goldens"]["mutants"]["generated"]
    if language == "java":
        return JavaSubject(bench, material.source, request, material.tree, scratch, generated)
    return CompiledSubject(bench, material.source, request, workers, generated)
