"""What rules/toolchains.yaml says of a language, typed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """One language as data.

    `build_programs` are the executables that a build may use, `run_programs` those that a case may (an interpreter);
    names are searched on the host's PATH. `suffixes` mark source files. `compiled` says that a build makes an ELF.
    `cpu_factor` scales the oracle's CPU time into a limit. `public_base` is the image that an exported Dockerfile
    names, `packages` what it installs there.
    """

    language: str
    suffixes: tuple[str, ...]
    compiled: bool
    build_programs: tuple[str, ...]
    run_programs: tuple[str, ...]
    cpu_factor: float
    public_base: str
    packages: tuple[str, ...]
    version_command: tuple[str, ...]
