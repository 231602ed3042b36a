"""bats suites: one start per file, the stand-in where the build left the program and first in PATH."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from programsmith.miners.base import Bench, Skip
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.runners.scripts import stand_everywhere
from programsmith.miners.recording.session import SOURCE, Needs, Session, Start
from programsmith.miners.recording.tests import own_files
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.packages import database_exists, matching

_CODED = re.compile(rb"-([0-9a-f]{2})")


class Bats:
    """The runner."""

    name = "bats"
    in_process = re.compile(rb"(?!)")

    def tests(self, source: SourceTree, _bench: Bench) -> list[FileEntry]:
        """Files that bats runs."""
        return [e for e in own_files(source) if e.path.endswith(b".bats")]

    def needs(self, _source: SourceTree, _bench: Bench) -> Needs:
        """The program itself, from the host's package. Raises Skip `no_bats`."""
        if not database_exists() or not matching(["bats"]):
            raise Skip("no_bats")
        return Needs(packages=("bats",))

    def starts(self, session: Session, tests: Sequence[FileEntry]) -> Iterator[Start]:
        """One start per file."""
        stand_everywhere(session)
        for test in tests:
            path = f"{SOURCE}/{test.path.decode('utf-8', 'surrogateescape')}"
            yield Start(words=("bats", "--tap", path), test=test.path, cwd=SOURCE)

    def place(self, call: Call, start: Start, _tests: Mapping[bytes, FileEntry], /) -> tuple[bytes, str]:
        """As bats says: `test_` and the description, blanks as underscores, other bytes as `-` and their number."""
        said = call.env.get(b"BATS_TEST_NAME", b"").removeprefix(b"test_").replace(b"_", b" ")
        return start.test, _CODED.sub(lambda m: bytes([int(m[1], 16)]), said).decode("utf-8", "replace")
