"""r/manifest.json: what a bundle holds, by digest and by case id. Everything that reads a bundle starts from it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from programsmith.payload.verifier.model import FileEntry, GradedCase
from programsmith.payload.verifier.tree import tree_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A bundle by digest.

    `tree` is the tree digest of the whole, `files` the SHA-256 of each file by path. `families` counts the cases of
    a family by side. `exec_allowed` are the executables that any case may start besides the submission and the
    interpreter. `solution` is `source`, `wrapper` or `table`, `waived` the tree digest of a wrapper (else empty).
    `build_packages` are packages that a build may use besides the toolchain, `run_packages` those that start an
    original of another language in the verifier's container. `source_language` is the original's. `overview` are the
    paragraphs about the program that its instruction holds.
    """

    tree: str
    files: dict[str, str]
    public: tuple[str, ...]
    held_out: tuple[str, ...]
    families: dict[str, dict[str, int]]
    tool: str
    target_language: str
    exec_allowed: tuple[str, ...]
    solution: str
    waived: str
    build_packages: tuple[str, ...] = ()
    source_language: str = ""
    overview: tuple[str, ...] = ()
    run_packages: tuple[str, ...] = ()

    @property
    def more_packages(self) -> bool:
        """Whether its images hold packages that no base has."""
        return bool(self.build_packages or self.run_packages)


def digests(entries: Iterable[FileEntry]) -> tuple[str, dict[str, str]]:
    """Tree digest, and SHA-256 of every file by path."""
    files = [e for e in entries if e.kind == "file"]
    return tree_digest(files), {e.path.decode("ascii"): hashlib.sha256(e.content).hexdigest() for e in sorted(files)}


def families(sides: Mapping[str, Iterable[GradedCase]]) -> dict[str, dict[str, int]]:
    """Number of cases per family and side, families in name order."""
    counts: dict[str, dict[str, int]] = {}
    for side, cases in sides.items():
        for graded in cases:
            row = counts.setdefault(graded.family, dict.fromkeys(sides, 0))
            row[side] += 1
    return dict(sorted(counts.items()))
