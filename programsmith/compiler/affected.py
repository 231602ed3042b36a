"""By what the changes of a checkout affect a spec: its fields, the rules, code and payload of its blocks, its files.

In: changes since a commit, a compiled spec. Out: causes, named as the engine names them. YAML counts by what it says,
everything else by its bytes. A step that the spec does not ask for affects it by nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from programsmith.compiler.origins import leaves
from programsmith.compiler.passes import wanted
from programsmith.compiler.plan import Step, attacker_of
from programsmith.compiler.slices import RuleFiles, answers, outside_paths, shown_paths
from programsmith.compiler.turn import Subject
from programsmith.errors import InputError
from programsmith.rulebook.load import packaged_rules, packaged_schema, schema_of
from programsmith.sources.checkout import Since
from programsmith.spec.find import base_of
from programsmith.spec.load import read_values
from programsmith.verdict.batches import entries_of

SILENT = ("version", "extends")
"""Fields of a spec that say nothing beyond what comes of them."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause as the engine names it, the first of the `files` that changed in it, the blocks whose cause it is."""

    cause: str
    path: Path
    blocks: tuple[str, ...]
    files: int = 1


@dataclass(frozen=True, slots=True)
class Affecting:
    """The changes, with `scratch` for former files, and `rules` that reads the rules of a project."""

    since: Since
    project: Path
    scratch: Path
    rules: Callable[[Path], RuleFiles]

    def causes(self, subject: Subject, path: Path, steps: Iterable[Step]) -> list[Cause]:
        """Every cause that changed for the spec at `path`. Raises InputError."""
        asked = [step for step in steps if wanted(subject, step)]
        return [
            *self._fields(subject, path, asked),
            *self._rules(subject, asked),
            *self._code(subject, asked),
            *self._files(subject, asked),
        ]

    def chain(self, path: Path) -> list[Path]:
        """The spec's file and all that it extends, as they were; each is laid in scratch where it was."""
        found: list[Path] = []
        at: Path | None = path
        while at is not None and at not in found and at.is_relative_to(self.since.top):
            text = self.since.former(at)
            if text is None:
                break
            place = self.scratch / at.relative_to(self.since.top)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text)
            found.append(at)
            base = base_of(at, text)
            at = None if base is None else base.resolve()
        return found

    def _fields(self, subject: Subject, path: Path, steps: Sequence[Step]) -> Iterator[Cause]:
        chain = self.chain(path)
        schema = packaged_rules().resolve() / "schema" / "spec.json"
        touched = [file for file in (*chain, schema) if file in self.since.changed]
        if not touched:
            return
        try:
            text = self.since.former(schema) if schema in touched else None
            former = read_values(
                self.scratch / path.relative_to(self.since.top),
                self.scratch / self.project.relative_to(self.since.top),
                packaged_schema("spec") if text is None else schema_of(text),
            )
        except (InputError, ValueError):
            yield Cause("spec", touched[0], tuple(step.block for step in steps))
            return
        now = {name: subject.values.get(name) for name in packaged_schema("spec")["properties"]}
        for name, _, _ in leaves(former, now):
            if name.partition(".")[0] not in SILENT:
                yield Cause(f"spec.{name}", touched[0], _blocks(steps, [_reads(step, name) for step in steps]))

    def _rules(self, subject: Subject, steps: Sequence[Step]) -> Iterator[Cause]:
        own, packaged = self.project / "rules", packaged_rules().resolve()
        touched = self.since.touched(own)
        former = self.rules(self._lay_rules(own)) if touched else None
        for name in sorted({name for step in steps for name in _rules_of(step)}):
            file = name if name.endswith((".md", ".json")) else f"{name}.yaml"
            path = own / file
            differs = former is not None and _digest(former, name) != _digest(subject.rules, name)
            if packaged != own and packaged / file in self.since.changed and not path.exists():
                differs, path = True, packaged / file
            if differs:
                yield Cause(f"rules/{name}", path, _blocks(steps, [name in _rules_of(step) for step in steps]))

    def _lay_rules(self, own: Path) -> Path:
        """The project in scratch with its rules as they were."""
        project = self.scratch / "rules of" / "then"
        files = {p for p in own.rglob("*") if p.is_file()} | set(self.since.touched(own))
        for file in files:
            text = self.since.former(file)
            if text is not None:
                place = project / "rules" / file.relative_to(own)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text)
        return project

    def _code(self, subject: Subject, steps: Sequence[Step]) -> Iterator[Cause]:
        blocks = subject.blocks
        code = {step.block: {path.resolve() for path in blocks.modules(step.block).values()} for step in steps}
        for path in sorted(self.since.changed):
            made_of = _blocks(steps, [path in code[step.block] for step in steps])
            if made_of:
                yield Cause("code", path, made_of)
        for name in sorted({name for step in steps for name in step.payload}):
            folder = blocks.payload(name).resolve()
            yield from self._below(f"payload/{name}", folder, _blocks(steps, [name in step.payload for step in steps]))

    def _files(self, subject: Subject, steps: Sequence[Step]) -> Iterator[Cause]:
        values = subject.values
        named = {pair for step in steps for pair in outside_paths(step, values, self.project)}
        for field, real in sorted(named):
            yield from self._below(field, real, _blocks(steps, [field in step.outside for step in steps]))
        for step in steps:
            for name, real in answers(step, values, self.project):
                yield from self._below(name, real, (step.block,))
        own = [*values.get("rollouts", ()), values.get("ceiling"), attacker_of(values)]
        entries = [*own, *entries_of(values.get("sweep"))]
        shown = {pair for entry in entries if entry for pair in shown_paths(entry, self.project)}
        for name, real in sorted(shown):
            yield from self._below(name, real, _blocks(steps, [step.per_trial for step in steps]))

    def _below(self, name: str, real: Path, blocks: tuple[str, ...]) -> Iterator[Cause]:
        """One cause for all that changed at a path or below it."""
        touched = sorted(self.since.touched(real))
        if touched:
            yield Cause(name, touched[0], blocks, len(touched))


def _blocks(steps: Sequence[Step], are: Sequence[bool]) -> tuple[str, ...]:
    """The blocks of those steps of which it holds."""
    return tuple(step.block for step, holds in zip(steps, are, strict=True) if holds)


def _reads(step: Step, name: str) -> bool:
    """Whether the step's slice holds the field, or fields below or around it."""
    plain = name.partition("[")[0]
    return any(f"{plain}.".startswith(f"{own}.") or f"{own}.".startswith(f"{plain}.") for own in step.spec)


def _rules_of(step: Step) -> set[str]:
    """Rules that decide about the step: its own, and what tells the host from another one."""
    return {*step.rules, *(("toolchains",) if "init" in step.payload else ())}


def _digest(rules: RuleFiles, name: str) -> str | None:
    """The rule's digest, None where it cannot be read."""
    try:
        return rules.digest(name)
    except (InputError, OSError):
        return None
