"""What ingest pins, what the matrix proposes, what the oracle block leaves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LicenceFact:
    """A licence statement found in the source: file, SPDX expression, how it was recognised."""

    path: str
    expression: str
    how: str  # text | manifest | header


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A command that the source builds.

    `tool` is its name; `kind` is `c-binary`, `cmake-target`, `meson-target`, `python-console-script`, `python-script`,
    `java-main`, `node-script` or `node-built` (which the package's own build makes); `target` is what the kind needs:
    the built file's path, below the build's folder where CMake or Meson has one, `module:function`, the script's path,
    or the main class. `how` says where it was declared.
    """

    tool: str
    kind: str
    target: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The pinned source. `tree` is the SHA-256 over (path, mode, content) of every exported file."""

    name: str
    origin: str  # URL or archive name, for provenance only; never downstream of the bundle
    commit: str  # commit id, or the archive's SHA-256
    tree: str
    files: int
    licence: str  # SPDX expression that governs the whole
    licences: tuple[LicenceFact, ...]
    language: str  # a language of rules/toolchains.yaml
    build_system: str  # one of the language's
    code_lines: int  # non-blank lines of the language
    entry_points: tuple[EntryPoint, ...]
    overlap: tuple[str, ...] = ()  # known benchmarks that hold this repository
    notes: tuple[str, ...] = ()  # what ingest handled by name: dropped symlinks, submodules, synthetic git


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One possible task: target language x scope. `score` in 0..1; `code_lines` are the lines in scope."""

    tool: str
    target_language: str
    source_language: str
    entry: EntryPoint
    scope: str  # program, or a subcommand
    code_lines: int
    options: int
    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleFacts:
    """How to run the oracle: its tree is `oracle.tar`, shown at /opt/oracle inside a sandbox.

    `program` is the absolute path inside; `exec_allowed` are executables outside its tree that it was seen to start;
    `fingerprint` is that of the capture view; `recipe` the commands that built it.
    """

    tool: str
    program: str
    language: str
    exec_allowed: tuple[str, ...]
    recipe: tuple[str, ...]
    subcommands: tuple[str, ...]
    options: tuple[str, ...]
    version: str
    fingerprint: str
