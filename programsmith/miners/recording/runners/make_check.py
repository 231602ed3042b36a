"""Suites behind `make check` or `make test`: the stand-in lies where the build left the program, and first in PATH."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from programsmith.miners.base import Bench, folder_of, name_of
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.session import SOURCE, Needs, Session, Start
from programsmith.miners.recording.stand_in import StandIn
from programsmith.miners.recording.tests import in_test_folder, mentions, own_files, test_among_parents
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

_MAKEFILES = (b"GNUmakefile", b"Makefile", b"makefile", b"Makefile.am", b"Makefile.in")
_GOAL = re.compile(rb"^(check|test|tests|check-local)[ \t]*:(?!=)", re.MULTILINE)
_TESTS = re.compile(rb"^[ \t]*TESTS[ \t]*[+:]?=", re.MULTILINE)


class MakeCheck:
    """The runner."""

    name = "make_check"
    in_process = re.compile(rb"(?!)")

    def tests(self, source: SourceTree, bench: Bench) -> list[FileEntry]:
        """The makefiles with such a goal, and the files that it may start."""
        if not bench.request.toolchain.compiled or not _goals(source):
            return []
        files = own_files(source)
        made = [e for e in files if name_of(e.path) in _MAKEFILES]
        return made + [e for e in files if e not in made and (in_test_folder(e) or _script(e, bench.facts.tool))]

    def needs(self, _source: SourceTree, _bench: Bench) -> Needs:
        """Nothing but what the build needs."""
        return Needs()

    def starts(self, session: Session, _tests: Sequence[FileEntry]) -> Iterator[Start]:
        """One start per goal; the first makefile that states it stands for what has no script of its own."""
        session.stand([StandIn(path=p) for p in session.executables(session.bench.facts.tool)])
        for goal, path in _goals(session.source).items():
            yield Start(words=("make", "-k", goal), test=path, cwd=SOURCE)

    def place(self, call: Call, start: Start, tests: Mapping[bytes, FileEntry], /) -> tuple[bytes, str]:
        """The script among the caller's parents, else the makefile."""
        return test_among_parents(call, tests, SOURCE.encode()) or start.test, ""


def _script(entry: FileEntry, tool: str) -> bool:
    return entry.content.startswith(b"#!") and mentions(entry, tool)


def _goals(source: SourceTree) -> dict[str, bytes]:
    """Goals that run tests, with the makefile that states each."""
    found: dict[str, bytes] = {}
    for entry in source.files():
        if name_of(entry.path) not in _MAKEFILES or folder_of(entry.path).count(b"/"):
            continue
        top = not folder_of(entry.path)
        if _TESTS.search(entry.content) or (b"dejagnu" in entry.content and top):
            found.setdefault("check", entry.path)
        for goal in _GOAL.findall(entry.content):
            if top or goal == b"check-local":
                found.setdefault("check" if goal == b"check-local" else goal.decode(), entry.path)
    return found
