"""Strength of a pool: choose how this oracle is built, traced and mutated, then measure. Source in, kills out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.c_subject import CSubject
from programsmith.goldens.strength.measure import measure
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


def measure_pool(
    material: Material, launcher: Launcher, goldens: Sequence[Golden], split: Split, scratch: Path, workers: int
) -> Kills:
    """Kills per mutant and lines per case. Raises BuildRefusedError, InfraError, PrerequisiteError."""
    limits = limits_of(material.rules["limits"]["capture"])
    bench = Bench(launcher=launcher, facts=material.facts, limits=limits)
    subject = _subject(material, bench, scratch, workers)
    try:
        return measure(subject, bench, goldens, split, material.rules["goldens"]["mutants"], workers)
    finally:
        subject.close()


def _subject(material: Material, bench: Bench, scratch: Path, workers: int) -> Subject:
    language = material.lock.language
    if language == "python":
        return PythonSubject(bench, material.source, material.tree, scratch)
    if language == "c":
        request = BuildRequest(
            toolchain=toolchains(material.rules["toolchains"])[language],
            lock=material.lock,
            entry=material.entry,
            spec_build=material.spec_build,
            limits=limits_of(material.rules["limits"]["build"]),
        )
        generated = material.rules["goldens"]["mutants"]["generated"]
        return CSubject(bench, material.source, request, workers, generated)
    raise InfraError(f"strength: no way to mutate {language!r}; wanted c or python")
