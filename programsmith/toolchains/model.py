"""What rules/toolchains.yaml says of a language, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Flavour(StrEnum):
    """How a source is built.

    `other_path` is release at another build path and another prefix. A language whose programs may have undefined
    behaviour has two more: `other_optimisation`, and `sanitized`, which ends where it sees such behaviour.
    """

    RELEASE = "release"
    MUTANT = "mutant"
    COVERAGE = "coverage"
    OTHER_PATH = "other_path"
    OTHER_OPTIMISATION = "other_optimisation"
    SANITIZED = "sanitized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a recipe, with placeholders. `unless` names a source file that makes it needless."""

    run: tuple[str, ...]
    unless: str = ""
    may_fail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSystem:
    """One way of building: the files that show it, its offline steps, folders and files an installation leaves."""

    files: tuple[str, ...]
    build: tuple[Step, ...]
    install: tuple[Step, ...]
    leave: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()  # of the host, that the original's build takes besides the toolchain
    output: str = "{target}"  # where the build leaves the program, below the source


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """A version that a source declares: `pattern`'s group in one of `files`, met by what `command` prints."""

    what: str
    files: tuple[str, ...]
    pattern: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OldSign:
    """What a failed build's log says where `what` is too old: `pattern`'s group is what the build wanted."""

    what: str
    pattern: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRule:
    """What views show besides programs. `parts` are commands that print the path of an executable."""

    packages: tuple[str, ...]
    paths: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    run_paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """An interpreter and the path at which every view shows it."""

    program: str
    shown: str
    minimum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """The package client that may bring declared dependencies, and options that keep it from running their code."""

    command: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A toolchain that lies in a folder of its own, which `command` prints, and which views show at `shown`.

    `parts` are patterns below it, `programs` executables below it that get their names in /usr/bin; `runs` are those
    that a case may start, with all parts. `ready` are commands that run once in a copy of it, with `environment`
    ({home} is the copy, {scratch} a passing folder).
    """

    command: tuple[str, ...]
    shown: str
    parts: tuple[str, ...]
    programs: tuple[str, ...]
    runs: tuple[str, ...] = ()
    ready: tuple[tuple[str, ...], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How a compiled oracle is measured: who tells executed lines, and the suffixes of files that are mutated."""

    lines: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What holds for all languages of the rule file."""

    search: tuple[str, ...]
    shell: tuple[str, ...]
    environment: Mapping[str, str]
    network_signs: tuple[str, ...]
    drop: tuple[str, ...]
    drop_suffixes: tuple[str, ...]
    leave: tuple[str, ...]  # folders of added packages that stay out of views
    base: tuple[str, ...]  # packages that every view has anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """One language as data.

    `build_programs` are the executables that a build may use, `run_programs` those that a case may (an interpreter),
    which `run_packages` bring; names are searched in `common.search`. `suffixes` mark source files. `compiled` says
    that a build makes an ELF.
    `cpu_factor` scales the oracle's CPU time into a limit. `public_base` is the image that an exported Dockerfile
    names, `packages` what it installs there. `detect_files` and `detect_suffixes` tell the language of a source.
    `wrapped` are the compilers to which `flavours` add flags, and `bundle_flags` where shared libraries are bundled.
    `environment` is that of its builds besides the common one, `settings` what a flavour adds to it;
    `where_known` are flags of a flavour that a compiler may be too old for.
    """

    language: str
    suffixes: tuple[str, ...]
    detect_files: tuple[str, ...]
    detect_suffixes: tuple[str, ...]
    compiled: bool
    build_programs: tuple[str, ...]
    run_programs: tuple[str, ...]
    cpu_factor: float
    public_base: str
    packages: tuple[str, ...]
    version_command: tuple[str, ...]
    view: ViewRule
    minimums: tuple[Minimum, ...]
    old_signs: tuple[OldSign, ...]
    wrapped: tuple[str, ...]
    bundle_flags: tuple[str, ...]
    flavours: Mapping[Flavour, tuple[str, ...]]
    build_systems: Mapping[str, BuildSystem]
    common: Common
    interpreter: Interpreter | None = None
    fetch: Fetch | None = None
    strength: Strength | None = None
    home: Home | None = None
    run_packages: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[Flavour, Mapping[str, str]] = field(default_factory=dict)
    where_known: Mapping[Flavour, tuple[str, ...]] = field(default_factory=dict)
