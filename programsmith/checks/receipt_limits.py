"""No more is received than the policy says: files, bytes, levels, and bytes of what is packed.

Handed in, under the rule's small limits, are submissions each of which has more of one thing, beside a compile.sh that
fails: each must end before its build.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import Any

from programsmith.adversaries.cut import Choice
from programsmith.bundle.controls import Files
from programsmith.checks.base import Row, Scene, first
from programsmith.checks.source_policy import FAILING
from programsmith.checks.stages import graded, some
from programsmith.payload.verifier.model import FileEntry
from programsmith.payload.verifier.words import BuildWord

NOTHING = "nothing more"
MORE = ("more files", "more bytes", "more levels", "more bytes of what is packed")
PACKED = 16  # times the bytes of a submission: more than the policy ever unpacks


def run(scene: Scene, parameters: Mapping[str, Any]) -> Row:
    """Hand each in and compare the word of its build."""
    given = {NOTHING: (FAILING,), **_submissions(**parameters)}
    wanted = dict.fromkeys(given, BuildWord.POLICY) | {NOTHING: BuildWord.BUILD_FAIL}
    got = graded(scene, given, some(scene, 1), Choice(receiving=parameters))
    words = {name: one.grade.word for name, one in got.items()}
    found = [
        f"tests/verify.pyz: {name}: wanted {wanted[name]}, got {words[name]}"
        for name in given
        if words[name] != wanted[name]
    ]
    return Row(
        passed=not found,
        reason=first(found, f"{len(given) - 1} limits of what is received hold", "receipt"),
        evidence={"faults": found, "words": words},
    )


def _submissions(files: int, bytes: int, depth: int) -> dict[str, Files]:  # noqa: A002 - named as the policy names them
    much, packed = b"\0" * (bytes + 1), gzip.compress(b"\0" * (PACKED * bytes), mtime=0)
    more: tuple[Files, ...] = (
        tuple(FileEntry(b"n%d" % number) for number in range(files)),
        (FileEntry(b"much", content=much),),
        (FileEntry(b"/".join([b"d"] * (depth + 1)), "dir", 0o755),),
        (FileEntry(b"much.gz", content=packed),),
    )
    return {name: (FAILING, *entries) for name, entries in zip(MORE, more, strict=True)}
