"""The table program of a language as a submission of another one, under names that say nothing of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from programsmith.bundle import controls
from programsmith.payload.verifier.environment import COMPILE
from programsmith.payload.verifier.model import FileEntry, GradedCase

BY_COMPILER = (Path(__file__).parent / "compile.sh").read_bytes()
"""A build that tries every way to make a program of C, says `tried all` in the end, and fails where none did."""
INTERPRETED = b"""#!/bin/sh
{ echo '#!/usr/bin/python3 -IS'; cat main_py.txt; } >executable
chmod 755 executable
"""
"""A build that makes a script of Python, which every verifier's image has for the grader."""


def disguised(language: str, cases: Iterable[GradedCase], script: bytes) -> list[FileEntry]:
    """The program, built by `script`."""
    files = [e for e in controls.table(language, cases) if e.path != COMPILE.encode()]
    named = [e if e.path.endswith(b".txt") else dataclasses.replace(e, path=_plain(e.path)) for e in files]
    return [*named, FileEntry(COMPILE.encode(), "file", 0o755, script)]


def ways(log: bytes) -> list[bytes]:
    """The ways that a build found, as its log tells them."""
    lines = log.splitlines()
    assert b"tried all" in lines, log
    return [line for line in lines if line.startswith((b"compiled by", b"assembled by"))]


def _plain(path: bytes) -> bytes:
    return path.replace(b".", b"_") + b".txt"
