"""What a block is handed: its slice of the spec and the rules, its inputs and outputs, a scratch folder.

Every access is checked against the step's declaration, so a block cannot depend on what the engine does not track.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from programsmith.errors import UndeclaredAccess
from programsmith.records.trial import Assignment

T = TypeVar("T")


class Tracked:
    """Read access to nested values by dotted path, limited to declared paths and their children; records uses."""

    def __init__(self, what: str, values: Mapping[str, Any], declared: tuple[str, ...]) -> None:
        self._what = what
        self._values = values
        self._declared = declared
        self.used: set[str] = set()

    def __call__(self, path: str, kind: type[T]) -> T:
        """The value at `path`, checked to be a `kind` (an int is a float). Raises UndeclaredAccess."""
        cover = next((d for d in self._declared if path == d or path.startswith(d + ".")), None)
        if cover is None:
            raise UndeclaredAccess(f"{self._what} {path!r} is not declared by the step")
        self.used.add(cover)
        value: Any = self._values
        for part in path.split("."):
            value = value[part]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind):
            raise TypeError(f"{self._what} {path!r}: wanted {kind.__name__}, got {value!r}")
        return value


class Rules:
    """Read access to whole rule files by name (`limits`, `prompts/instruction.md`), limited to the declared ones.

    A YAML rule is its mapping; a prompt is its text.
    """

    def __init__(self, load: Callable[[str], Any], declared: tuple[str, ...]) -> None:
        self._load = load
        self._declared = declared
        self.used: set[str] = set()

    def __call__(self, name: str) -> Any:
        """The content of rule file `name`. Raises UndeclaredAccess, InputError."""
        if name not in self._declared:
            raise UndeclaredAccess(f"rule {name!r} is not declared by the step")
        self.used.add(name)
        return self._load(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run of one block.

    `inputs` and `outputs` map artifact names of the plan (`lock.json`, `r/bundle/`) to paths; outputs are fresh `.part`
    paths that the engine publishes (a block must write each of them when it says a word that continues). `records` are
    the outcomes settled before this block (for a step whose row says so); a block that has a `need` gets instead what
    that made of them. `scratch` is removed afterwards. `project` is the root that relative paths of a spec start from,
    `store` a folder shared by all specs for content-addressed things that may vanish, `dist` where export writes.
    `owner_secret` opens bundles that their owner seals; `signing_key` gives what exports are signed with, None where
    there is none. `environment` is what keys of providers are looked for in; `calls` is where a gateway keeps the
    record of what was bought under the block's reservation. `trial` says which one a step of a single trial runs,
    `trials` all that were asked for up to this batch, for a step that brings them together. `complete` answers what
    the block asks of the model that the spec names, None where it names none (see models/ask.py).
    """

    spec: Tracked
    rules: Rules
    inputs: Mapping[str, Path]
    outputs: Mapping[str, Path]
    scratch: Path
    project: Path
    store: Path
    dist: Path
    workers: int = 2
    owner_secret: bytes | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    calls: Path | None = None
    signing_key: Callable[[], bytes | None] = lambda: None
    trial: Assignment | None = None
    trials: tuple[Assignment, ...] = ()
    records: Mapping[str, Any] = field(default_factory=dict)
    need: Any = None
    complete: Callable[[Any], Any] | None = None
    say: Callable[[str], None] = print
