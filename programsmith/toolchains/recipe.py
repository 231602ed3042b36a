"""What to build and how: a request, and the commands that it comes to. Pure; refuses an unknown build system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from programsmith.errors import InputError, ProgramSmithError
from programsmith.payload.verifier.environment import ORACLE
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.records.lock import EntryPoint, Lock
from programsmith.records.outcome import Word
from programsmith.toolchains.model import BuildSystem, Flavour, Step, Toolchain

WORKSPACE = "/build"
JOBS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """One build of a locked source.

    `spec_build` is the spec's `build` mapping; `limits` hold for each command. `vendor` are dependencies that an
    earlier build fetched (entries below `vendor/`); None lets this build fetch them.
    """

    toolchain: Toolchain
    lock: Lock
    entry: EntryPoint
    spec_build: Mapping[str, Any]
    limits: Limits
    flavour: Flavour = Flavour.RELEASE
    vendor: tuple[FileEntry, ...] | None = None

    @property
    def system(self) -> BuildSystem:
        """The rule of the lock's build system. Raises InputError where the toolchain has none of that name."""
        systems = self.toolchain.build_systems
        if self.lock.build_system not in systems:
            raise InputError(
                f"{self.lock.name}: build system {self.lock.build_system!r} of {self.toolchain.language}: "
                f"wanted one of {', '.join(sorted(systems))} (rules/toolchains.yaml)"
            )
        return systems[self.lock.build_system]

    @property
    def output(self) -> str:
        """Where the build leaves the program, relative to the source."""
        return self.system.output.format(tool=self.entry.tool, target=self.entry.target)


class BuildRefusedError(ProgramSmithError):
    """A source cannot be built here: the oracle block's "no". `word` is unbuildable or toolchain_too_old."""

    def __init__(self, word: Word, reason: str, evidence: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.word = word
        self.reason = reason
        self.evidence = dict(evidence or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a flavour's build happens inside the workspace, and where its result will be shown."""

    source: str
    stage: str
    prefix: str


def places(flavour: Flavour) -> Places:
    """`other_path` differs in both: a program that shows where it was built or installed gives itself away."""
    if flavour is Flavour.OTHER_PATH:
        return Places(source=f"{WORKSPACE}/elsewhere/a/tree", stage=f"{WORKSPACE}/stage", prefix=f"{ORACLE}/elsewhere")
    return Places(source=f"{WORKSPACE}/source", stage=f"{WORKSPACE}/stage", prefix=ORACLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of a build: words, whether a failure is for a later command to judge."""

    words: tuple[str, ...]
    may_fail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The commands of one build. `env` is its whole environment; `packages` are added to the view."""

    build: tuple[Command, ...]
    install: tuple[Command, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """The commands as a person would type them."""
        import shlex

        return tuple(shlex.join(c.words) for c in (*self.build, *self.install))


def recipe(request: BuildRequest, has: Sequence[str], where: Places | None = None) -> Recipe:
    """The commands of a request. `has` are the source's root names; `where` overrides the flavour's places."""
    where = where or places(request.flavour)
    spec = request.spec_build
    values = {
        "jobs": str(JOBS),
        "source": where.source,
        "prefix": where.prefix,
        "stage": where.stage,
        "tool": request.entry.tool,
        "kind": request.entry.kind,
        "target": request.entry.target,
    }
    own = tuple(Command(words=("sh", "-ec", line)) for line in spec.get("build") or ())
    built = own or _commands(request.system.build, values, has)
    env = {
        **request.toolchain.common.environment,
        **{k: v.format(source=where.source) for k, v in _own_environment(request).items()},
        "PREFIX": where.prefix,
        "DESTDIR": where.stage,
        **{str(k): str(v) for k, v in (spec.get("env") or {}).items()},
    }
    if not own:
        env = {k: v for k, v in env.items() if k not in {"PREFIX", "DESTDIR"}}
    return Recipe(
        build=built,
        install=_commands(request.system.install, values, has),
        env=env,
        packages=tuple(spec.get("packages") or ()),
    )


def _own_environment(request: BuildRequest) -> dict[str, str]:
    toolchain = request.toolchain
    return {**toolchain.environment, **toolchain.settings.get(request.flavour, {})}


def _commands(steps: Sequence[Step], values: Mapping[str, str], has: Sequence[str]) -> tuple[Command, ...]:
    return tuple(
        Command(words=tuple(word.format_map(values) for word in step.run), may_fail=step.may_fail)
        for step in steps
        if not step.unless or step.unless not in has
    )
