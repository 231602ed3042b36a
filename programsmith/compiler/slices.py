"""The slice of a step: everything that its outcome may depend on, each under a name that a person can read.

In: a step, the spec's values (defaults filled), the rules, the code. Out: cause to SHA-256, such as
`spec.goldens`, `rules/limits`, `code`, `payload/verifier`, `host`, `lock.json`, `source.path`, `record sanity`, `need`.
Two equal slices mean that the step need not run again.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import programsmith
from programsmith.compiler.imports import Package
from programsmith.compiler.plan import Step, model_of
from programsmith.compiler.signature import sign
from programsmith.job import Job, Rules
from programsmith.models.replay import file
from programsmith.records.codec import encode
from programsmith.records.outcome import Outcome, Record
from programsmith.records.trial import Assignment
from programsmith.sandboxes.host import host_digest
from programsmith.spec.checks import is_replay

ABSENT = "absent"
NEED = "need"
"""What a block may have to say what it needs of the records, and the cause that this is in their place."""
ANSWERS = "answers "
"""Before the word of `models` it names the cause that is a replay's file."""
UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)


class RuleFiles(Protocol):
    """Rule files by name, as the rulebook gives them."""

    def load(self, name: str) -> Any:
        """The content of a rule file."""

    def digest(self, name: str) -> str:
        """SHA-256 of that content."""


class Blocks:
    """The blocks of one package: <package>/blocks/<block>.py with `run(job)`, payload folders beside them."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(programsmith.__file__).parent
        self._package = Package(self.folder)

    def run(self, block: str) -> Callable[[Job], Outcome]:
        """The function that runs `block`; imports it."""
        found: Callable[[Job], Outcome] = import_module(f"{self._package.name}.blocks.{block}").run
        return found

    def part(self, block: str, name: str) -> Any:
        """What the module of `block` has under `name`, such as a key of its own; None where it has nothing."""
        return getattr(import_module(f"{self._package.name}.blocks.{block}"), name, None)

    def digest(self, block: str) -> str:
        """SHA-256 over the code of `block` and of all that it imports from its package."""
        return self._package.digest(f"{self._package.name}.blocks.{block}")

    def modules(self, block: str) -> dict[str, Path]:
        """Name to file of all code of `block`."""
        return self._package.closure(f"{self._package.name}.blocks.{block}")

    def digests(self, block: str) -> dict[str, str]:
        """Name to SHA-256 of all code of `block`."""
        return self._package.modules(f"{self._package.name}.blocks.{block}")

    def payload(self, name: str) -> Path:
        """The payload folder `name`."""
        return self._package.folder / "payload" / name

    def content(self, path: Path) -> str:
        """SHA-256 of a file or folder, `absent` where nothing is."""
        return content(path)

    def host(self, patterns: Sequence[str]) -> str:
        """SHA-256 of what the patterns match on the host. Raises PrerequisiteError."""
        return host_digest(patterns)


class Steady(Blocks):
    """Blocks of code, on a host, that are known not to change: each is read once."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(blocks.folder)
        self._blocks = blocks
        self._digest = functools.cache(blocks.digest)
        self._host = functools.cache(blocks.host)

    def digest(self, block: str) -> str:
        """See Blocks."""
        return self._digest(block)

    def content(self, path: Path) -> str:
        """See Blocks."""
        return self._blocks.content(path)

    def host(self, patterns: Sequence[str]) -> str:
        """See Blocks."""
        return self._host(tuple(patterns))

    def payload(self, name: str) -> Path:
        """See Blocks."""
        return self._blocks.payload(name)


class Glance(Steady):
    """Blocks for one look, which is void where something changes meanwhile: artifacts too are read once."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(blocks)
        self._content = functools.cache(blocks.content)

    def content(self, path: Path) -> str:
        """See Blocks."""
        return self._content(path)


def declared(step: Step, values: Mapping[str, Any], rules: RuleFiles, blocks: Blocks) -> dict[str, str]:
    """Causes that are known before any artifact is: spec fields, rule files, code, payload."""
    causes = {f"spec.{path}": json_digest(field(values, path)) for path in step.spec}
    causes |= {f"rules/{name}": rules.digest(name) for name in step.rules}
    causes |= {f"payload/{name}": blocks.content(blocks.payload(name)) for name in step.payload}
    causes["code"] = blocks.digest(step.block)
    return causes


def outside(step: Step, values: Mapping[str, Any], root: Path, forbidden: Path) -> Iterator[tuple[str, str]]:
    """Causes that lie in the project: what the spec's path fields name. One that contains `forbidden` is not read."""
    for path, real in outside_paths(step, values, root):
        yield path, ABSENT if forbidden.resolve().is_relative_to(real) else content(real)


def outside_paths(step: Step, values: Mapping[str, Any], root: Path) -> Iterator[tuple[str, Path]]:
    """Path fields of the spec that the step reads what they name, and where that is."""
    for path in step.outside:
        name = field(values, path)
        if name is not None:
            yield path, (root / str(name)).resolve()


def answers(step: Step, values: Mapping[str, Any], root: Path) -> Iterator[tuple[str, Path]]:
    """Where answers are written that a step is given in place of a model's, as a cause, and where that is."""
    model = model_of(step, values)
    if model is not None and is_replay(model):
        yield f"{ANSWERS}{step.model}", file(model, step.block, root).resolve()


def launches(step: Step) -> bool:
    """Whether the step starts anything in a view of the host."""
    return "init" in step.payload


def host(step: Step, rules: RuleFiles, blocks: Blocks) -> dict[str, str]:
    """The host as a cause of a step that launches anything: its views are made from the host's files."""
    if not launches(step):
        return {}
    return {"host": blocks.host(rules.load("toolchains")["host"])}


def secret(step: Step, owner: bytes | None) -> dict[str, str]:
    """The owner's secret as a cause of the step that seals, told by a digest that does not reveal it."""
    if owner is None or "seal" not in step.spec:
        return {}
    return {"owner secret": hmac.digest(owner, b"cause", "sha256").hex()}


def settled(records: Mapping[str, Record]) -> dict[str, str]:
    """Causes that are records, whatever seconds they took."""
    return {f"record {name}": json_digest(encode(replace(record, seconds=0.0))) for name, record in records.items()}


def said(step: Step, records: Mapping[str, Record], rules: RuleFiles, blocks: Blocks) -> dict[str, str]:
    """What the step takes from the records as its causes: each of them, or what it needs of all. Raises InputError."""
    try:
        needed = need(step, records, rules, blocks)
    except UNREADABLE:  # records that nobody has checked
        needed = None
    return settled(records) if needed is None else {NEED: json_digest(encode(needed))}


def need(step: Step, records: Mapping[str, Record], rules: RuleFiles, blocks: Blocks) -> Any:
    """What the step that revises needs of the records, as its block's `need` says; None for any other.

    Raises InputError, and one of UNREADABLE on records of another form.
    """
    own = blocks.part(step.block, NEED) if step.revises else None
    return None if own is None else own(records, Rules(rules.load, step.rules))


def tried(trial: Assignment | None, trials: Sequence[Assignment], root: Path) -> dict[str, str]:
    """Causes of a step of trials: which one, with the program that its entry names; or which were asked for.

    How many trials an entry asks for, in which batch and at what price, is no cause of one of them.
    """
    if trial is not None:
        entry = {name: value for name, value in trial.entry.items() if name not in {"trials", "usd"}}
        causes = {"trial": json_digest([trial.name, entry])}
        return causes | {name: content(path) for name, path in shown_paths(entry, root)}
    return {"trials": json_digest([[t.name, t.batch] for t in trials])} if trials else {}


def shown_paths(entry: Mapping[str, Any], root: Path) -> Iterator[tuple[str, Path]]:
    """What an entry's agent is shown, as causes, and where that is."""
    if entry.get("script"):
        yield "agent script", (root / entry["script"]).parent.resolve()
    if entry.get("folder"):
        yield "agent folder", (root / entry["folder"]).resolve()


def field(values: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path of the spec. Raises KeyError where the schema has no such field."""
    value: Any = values
    for name in path.split("."):
        value = value[name]
    return value


def content(path: Path) -> str:
    """SHA-256 of a file or folder, `absent` where nothing is."""
    found = sign(path)
    return found.content if found else ABSENT


def json_digest(value: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Names of the causes that differ, in reading order."""
    names = [name for name in new if old.get(name) != new[name]]
    return names + [name for name in old if name not in new]
