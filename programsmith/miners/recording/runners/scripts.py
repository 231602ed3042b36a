"""Test scripts in shell (plain, TAP, sharness): each is started as its first line says, from the root, else its folder.

The stand-in lies where the build left the program and first in PATH; variables and a first argument by which a script
wants to be told the program name it too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from programsmith.miners.base import Bench, folder_of, name_of
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.session import SEARCHED, SOURCE, Needs, Session, Start
from programsmith.miners.recording.stand_in import StandIn
from programsmith.miners.recording.tests import in_test_folder, mentions, own_files
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

_SHELL = re.compile(rb"^#![ \t]*(?:/usr)?/bin/(?:env[ \t]+)?(ba|da|k|z)?sh\b")
_NAMED = re.compile(rb"(^|[-_./])(run[-_]?)?(all[-_]?)?(tests?|check)([-_.]|$)|^t\d+|\.t$|\.test$", re.IGNORECASE)
_TOLD = re.compile(rb"\$\{?([A-Z][A-Z0-9_]*)")
_MEANS_PROGRAM = re.compile(rb"^(.*_)?(PROG(RAM)?|BIN(ARY)?|EXE(CUTABLE)?|TOOL|CMD|COMMAND|UNDER_TEST)$")


class Scripts:
    """The runner."""

    name = "scripts"
    in_process = re.compile(rb"(?!)")

    def tests(self, source: SourceTree, bench: Bench) -> list[FileEntry]:
        """Scripts of a shell that lie or are named as tests, and could know the tool."""
        return [e for e in own_files(source) if _is_test(e, bench.facts.tool)]

    def needs(self, source: SourceTree, bench: Bench) -> Needs:
        """The program under the names of variables that the scripts read."""
        program = f"{SEARCHED}/{bench.facts.tool}"
        return Needs(env=dict.fromkeys(sorted(_variables(self.tests(source, bench), bench.facts.tool)), program))

    def starts(self, session: Session, tests: Sequence[FileEntry]) -> Iterator[Start]:
        """From the root first; a script that made no call there is started once more in its own folder."""
        stand_everywhere(session)
        program = f"{SEARCHED}/{session.bench.facts.tool}"
        for test in tests:
            path, folder = os.fsdecode(test.path), os.fsdecode(folder_of(test.path))
            shell = "bash" if b"bash" in test.content.split(b"\n", 1)[0] else "sh"
            given = (program,) if re.search(rb"\$\{?1\b", test.content) else ()
            yield Start(words=(shell, f"{SOURCE}/{path}", *given), test=test.path, cwd=SOURCE)
            if folder and not session.made:
                words = (shell, f"./{os.path.basename(path)}", *given)
                yield Start(words=words, test=test.path, cwd=f"{SOURCE}/{folder}")

    def place(self, _call: Call, start: Start, _tests: Mapping[bytes, FileEntry], /) -> tuple[bytes, str]:
        """The script that was started."""
        return start.test, ""


def stand_everywhere(session: Session) -> None:
    """Stand where the build left the program, and where the source keeps a script of its name."""
    tool = session.bench.facts.tool
    found = list(session.executables(tool))
    if not session.bench.request.toolchain.compiled:
        made = [e for e in own_files(session.source) if name_of(e.path) == tool.encode() and e.mode & 0o100]
        found += [f"{SOURCE}/{os.fsdecode(e.path)}" for e in made]
    session.stand([StandIn(path=path) for path in found])


def _is_test(entry: FileEntry, tool: str) -> bool:
    if not _SHELL.match(entry.content):
        return False
    named = _NAMED.search(name_of(entry.path)) is not None
    told = _variables([entry], tool)
    return (named or in_test_folder(entry)) and (mentions(entry, tool) or bool(told) or b"$1" in entry.content)


def _variables(tests: Sequence[FileEntry], tool: str) -> set[str]:
    """Variables by which scripts want to be told the program, and that they do not set themselves."""
    own = re.sub(rb"[^A-Z0-9]", b"_", tool.upper().encode())
    found: set[str] = set()
    for test in tests:
        for name in set(_TOLD.findall(test.content)):
            sets = re.search(rb"(?m)^[ \t]*(?:export[ \t]+)?" + name + rb"=", test.content)
            if not sets and (name == own or _MEANS_PROGRAM.match(name)):
                found.add(name.decode())
    return found
