"""Lines of C cases: a coverage build whose runs leave counters, read by gcov, sandboxed like the program.

A run leaves its counters in the work directory; gcov reads them beside the notes of the coverage build.
"""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from programsmith.errors import InfraError
from programsmith.goldens.strength.subject import Bench
from programsmith.payload.verifier.environment import BASE_ENV, WORK
from programsmith.payload.verifier.launcher import Launcher, Request
from programsmith.payload.verifier.model import Case, FileEntry
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.view import list_view
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Workspace
from programsmith.toolchains.model import Flavour
from programsmith.toolchains.recipe import BuildRequest

COUNTERS = b".programsmith-counters"


class Gcov:
    """The reader of lines for compilers that write gcov's counters."""

    def __init__(self, bench: Bench, source: SourceTree, request: BuildRequest) -> None:
        self._bench = bench
        self._lines_in_scope: set[str] = set()
        self._gcov: Launcher = open_launcher(list_view(programs=["gcov"]))
        try:
            self._coverage = Workspace.open(source, replace(request, flavour=Flavour.COVERAGE))
        except BaseException:
            self._gcov.close()
            raise
        self._notes = _notes(self._coverage)

    def counted(self, case: Case) -> dict[str, int]:
        """Run the coverage build, hand its counters to gcov, keep the lines that were counted."""
        bench = self._bench
        request = bench.request(case, self._coverage.tree)
        prefix = WORK.encode() + b"/" + COUNTERS
        result = bench.launcher.run(replace(request, env=(*request.env, (b"GCOV_PREFIX", prefix))))
        counters = [f for f in result.files or () if f.kind == "file" and f.path.startswith(COUNTERS + b"/")]
        counters = [f for f in counters if f.path.endswith(b".gcda")]
        return self._lines(counters) if counters else {}

    def _lines(self, counters: Sequence[FileEntry]) -> dict[str, int]:
        named = [(f, f.path.removeprefix(COUNTERS + b"/").replace(b"/", b"#")) for f in counters]
        files: list[FileEntry] = []
        for counter, name in named:
            note = self._notes.get(counter.path.removeprefix(COUNTERS)[: -len(b"da")] + b"no")
            if note is not None:
                files.append(FileEntry(name, "file", 0o644, counter.content))
                files.append(FileEntry(name[: -len(b"da")] + b"no", "file", 0o644, note))
        words = (b"gcov", b"--json-format", b"--stdout", *(f.path for f in files if f.path.endswith(b".gcda")))
        limits = replace(self._bench.limits, output_bytes=64 << 20)
        result = self._gcov.run(
            Request(program="/usr/bin/gcov", argv=words, env=BASE_ENV, limits=limits, files=tuple(files), collect=False)
        )
        if result.exit_code != 0:
            raise InfraError(f"gcov ended with {result.exit_code}: {result.fault or result.stderr[-200:]!r}")
        seen: Counter[str] = Counter()
        for report in result.stdout.splitlines():
            seen.update(self._reported(json.loads(report)))
        return dict(seen)

    def _reported(self, report: dict[str, Any]) -> Counter[str]:
        root = self._coverage.places.source + "/"
        seen: Counter[str] = Counter()
        for file in report["files"]:
            path = posixpath.normpath(posixpath.join(report["current_working_directory"], file["file"]))
            if path.startswith(root):
                path = path.removeprefix(root)
                self._lines_in_scope.update(f"{path}:{line['line_number']}" for line in file["lines"])
                seen.update({f"{path}:{line['line_number']}": line["count"] for line in file["lines"] if line["count"]})
        return seen

    def scope_lines(self) -> int:
        """Lines that carry code in any file that was linked, as gcov lists them."""
        return len(self._lines_in_scope)

    def close(self) -> None:
        """Remove the build and gcov's launcher."""
        self._coverage.close()
        self._gcov.close()


def _notes(workspace: Workspace) -> dict[bytes, bytes]:
    """The notes files of a coverage build by their absolute path inside, as the counters name them."""
    root = workspace.host_path(".")
    source = workspace.places.source.encode()
    return {
        source + b"/" + file.relative_to(root).as_posix().encode("utf-8", "surrogateescape"): file.read_bytes()
        for file in sorted(root.rglob("*.gcno"))
        if file.is_file() and not file.is_symlink()
    }
