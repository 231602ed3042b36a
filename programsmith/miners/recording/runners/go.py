"""Go tests that build and start the program: `go` is shimmed, so that what they build of the tool is the stand-in.

Test executables are made once per package and started in the package's folder, test by test where the package prepares
nothing for all of its tests. What a test starts under
the tool's name is the stand-in too. Commands that a suite runs inside its own executable are out of reach.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from programsmith.miners.base import Bench, folder_of
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.session import PLACE, SOURCE, Needs, Session, Start
from programsmith.miners.recording.stand_in import StandIn, sources
from programsmith.miners.recording.tests import own_files
from programsmith.payload.verifier.model import FileEntry
from programsmith.sources.tree import SourceTree

TEST = "PROGRAMSMITH_TEST"
_STARTS = re.compile(rb"\bexec\.Command|\bos\.StartProcess|\btestscript\b|\bicmd\.")
_MODULE = re.compile(rb"(?m)^module[ \t]+\"?([^\s\"]+)")
_GO = "/usr/bin/go"
_AT_ONCE = 20  # tests of one piece
_EACH = f'exe=$1; shift; for t; do {TEST}=$t timeout -k 5 120 "$exe" -test.run "^$t\\$" </dev/null; done'


class Go:
    """The runner."""

    name = "go"
    in_process = re.compile(rb"\.SetArgs\(|\.Execute\(|\bos\.Args\s*=|testscript\.Run")

    def tests(self, source: SourceTree, bench: Bench) -> list[FileEntry]:
        """Test files of packages, one of whose test files starts a process, and those that call the code themselves."""
        if bench.request.toolchain.language != "go":
            return []
        files = [e for e in own_files(source) if e.path.endswith(b"_test.go")]
        folders = {folder_of(e.path) for e in files if _STARTS.search(e.content)}
        return [e for e in files if folder_of(e.path) in folders or self.in_process.search(e.content)]

    def needs(self, source: SourceTree, bench: Bench) -> Needs:
        """The shim, and the tool's main package, by which it knows the tool."""
        shim = FileEntry(b"path/go", "file", 0o755, (sources() / "go.sh").read_bytes())
        env = {"PROGRAMSMITH_TOOL": bench.facts.tool, "PROGRAMSMITH_MAIN": _main(source, bench)}
        return Needs(
            env=env, vendor=(shim,), drops=(TEST, *env), own=(f"{SOURCE}/vendor", f"{SOURCE}/.programsmith"),
            programs=("timeout",),
        )  # fmt: skip

    def starts(self, session: Session, tests: Sequence[FileEntry]) -> Iterator[Start]:
        """Per package one executable of tests, its tests some at a time."""
        session.stand([StandIn(path=path) for path in session.executables(session.bench.facts.tool)])
        started = {folder_of(t.path): t for t in tests if _STARTS.search(t.content)}
        for number, (folder, test) in enumerate(sorted(started.items())):
            inside = os.fsdecode(folder)
            made, cwd = f"{PLACE}/go{number}.test", f"{SOURCE}/{inside}".rstrip("/")
            session.run((_GO, "test", "-c", "-o", made, f"./{inside}"), cpu_seconds=session.left)
            listed = session.ask((made, "-test.list", "."), cwd=cwd).decode("utf-8", "replace").split()
            names = [n for n in listed if n.isidentifier() and n.startswith(("Test", "Example"))]
            if any(b"func TestMain(" in t.content for t in tests if folder_of(t.path) == folder):
                yield Start(words=(made,), test=test.path, cwd=cwd)  # what it prepares, it prepares once
                continue
            for first in range(0, len(names), _AT_ONCE):
                words = ("sh", "-c", _EACH, "sh", made, *names[first : first + _AT_ONCE])
                yield Start(words=words, test=test.path, cwd=cwd)

    def place(self, call: Call, start: Start, tests: Mapping[bytes, FileEntry], /) -> tuple[bytes, str]:
        """The file of the package that holds the test."""
        name = call.env.get(TEST.encode(), b"")
        folder = folder_of(start.test)
        for path, entry in tests.items():
            if name and folder_of(path) == folder and re.search(rb"\bfunc " + re.escape(name) + rb"\(", entry.content):
                return path, name.decode("utf-8", "replace")
        return start.test, name.decode("utf-8", "replace")


def _main(source: SourceTree, bench: Bench) -> str:
    """The import path of the tool's main package."""
    manifest = source.get(b"go.mod")
    found = _MODULE.search(manifest.content) if manifest else None
    module = found[1].decode("utf-8", "replace") if found else "?"
    inner = bench.request.entry.target.strip("./")
    return f"{module}/{inner}" if inner else module
