"""What rules/toolchains.yaml says of a language, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Flavour(StrEnum):
    """How a source is built. `other_path` is release at another build path and another prefix."""

    RELEASE = "release"
    MUTANT = "mutant"
    COVERAGE = "coverage"
    OTHER_PATH = "other_path"


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

    `build_programs` are the executables that a build may use, `run_programs` those that a case may (an interpreter);
    names are searched in `common.search`. `suffixes` mark source files. `compiled` says that a build makes an ELF.
    `cpu_factor` scales the oracle's CPU time into a limit. `public_base` is the image that an exported Dockerfile
    names, `packages` what it installs there. `detect_files` and `detect_suffixes` tell the language of a source.
    `wrapped` are the compilers to which `flavours` add flags, and `bundle_flags` where shared libraries are bundled.
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
