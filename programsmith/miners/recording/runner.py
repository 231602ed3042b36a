"""The runner protocol: how the tests of one kind are found, what they need, where stand-ins go, how pieces start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from programsmith.miners.base import Bench
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.session import Needs, Session, Start
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree


class Runner(Protocol):
    """Tests of one kind. `in_process` marks lines by which a test calls the tool's code in its own process."""

    name: str
    in_process: re.Pattern[bytes]

    def tests(self, source: SourceTree, bench: Bench, /) -> list[FileEntry]:
        """The test files that this runner can start; none where the source has no such suite."""

    def needs(self, source: SourceTree, bench: Bench, /) -> Needs:
        """What the suite needs to run. Raises Skip where this host cannot give it."""

    def starts(self, session: Session, tests: Sequence[FileEntry], /) -> Iterator[Start]:
        """The pieces of the suite, after whatever must be built and put in place. Raises Skip."""

    def place(self, call: Call, start: Start, tests: Mapping[bytes, FileEntry], /) -> tuple[bytes, str]:
        """Path of the one of `tests` that made a call, and the test's name where it is known."""
