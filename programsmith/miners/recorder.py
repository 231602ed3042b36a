"""Test suites written in code: the suite is run once, with a stand-in where it calls the tool, and each call is a case.

The suite is untrusted and runs without a network in a sandbox of its own. What it makes the stand-in write can be no
more than an input: every expected side is captured from the oracle, and a case is kept only where the oracle, alone in
the case's own work folder, answers as it did in the suite. Suites that call the tool's code in their own process are
out of reach, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from programsmith.errors import PrerequisiteError
from programsmith.miners.base import Bench, MineContext, Skip, show
from programsmith.miners.recording.box import Box
from programsmith.miners.recording.cases import Suite, case_of
from programsmith.miners.recording.log import Call
from programsmith.miners.recording.runner import Runner
from programsmith.miners.recording.runners import RUNNERS
from programsmith.miners.recording.session import ROOTS, Session, Start
from programsmith.miners.recording.tests import line_of
from programsmith.payload.verifier.model import FileEntry
from programsmith.records.golden import MinedCase, Provenance
from programsmith.sources.tree import SourceTree
from programsmith.toolchains.build import Workspace
from programsmith.toolchains.recipe import BuildRefusedError

_VARIABLE = re.compile(rb"[A-Za-z][A-Za-z0-9_]{1,63}")
_KNOWN = frozenset({b"LANG", b"LC_ALL", b"LC_CTYPE", b"LC_COLLATE", b"LC_NUMERIC", b"LC_TIME", b"LC_MESSAGES", b"TZ"})


class Recorder:
    """The miner."""

    name = "recorder"

    def mine(self, tree: SourceTree, context: MineContext) -> Iterator[MinedCase]:
        """Cases of every suite that a runner knows, each input once, in the order of test files."""
        bench = context.bench
        if bench is None:
            return
        suites = {r: tests for r in RUNNERS.values() if (tests := r.tests(tree, bench))}
        seen: set[str] = set()
        for case in sorted(_recorded(tree, context, bench, suites), key=_order):
            if case.case.id in seen:
                context.skipped["duplicate"] += 1
                continue
            seen.add(case.case.id)
            yield case


def _order(found: MinedCase) -> tuple[bytes, int, str]:
    return found.provenance.path, found.provenance.line, found.case.id


def _recorded(
    tree: SourceTree, context: MineContext, bench: Bench, suites: Mapping[Runner, Sequence[FileEntry]]
) -> list[MinedCase]:
    """Cases of all suites, over one build."""
    found: list[MinedCase] = []
    if not suites:
        return found
    names = _names(bench.oracle) | _KNOWN
    box = Box(bench.rule, bench.limits, context.skipped)
    try:
        with Workspace.open(tree, bench.request) as built:
            for suite in suites.items():
                found += _Recording(tree, context, suite, names).cases(built, box)
    except BuildRefusedError as refusal:
        context.skipped["suite_not_built"] += 1
        bench.say(f"recorder: {refusal}")
    return found


class _Recording:
    """One runner's suite, run and read."""

    def __init__(
        self,
        tree: SourceTree,
        context: MineContext,
        suite: tuple[Runner, Sequence[FileEntry]],
        names: frozenset[bytes],
    ) -> None:
        self._tree = tree
        self._context = context
        assert context.bench is not None
        self._bench = context.bench
        self._runner, tests = suite
        self._tests = {t.path: t for t in tests}
        self._names = names
        self._calls: Counter[bytes] = Counter()

    def cases(self, built: Workspace, box: Box) -> list[MinedCase]:
        """The suite's cases; refusals are counted."""
        found: list[MinedCase] = []
        try:
            needs = self._runner.needs(self._tree, self._bench)
            with Session(self._tree, self._bench, needs, built, box) as session:
                for start in self._runner.starts(session, list(self._tests.values())):
                    found += self._piece(session, start)
                if not self._calls and (said := session.said()):
                    self._bench.say(
                        f"recorder: {self._runner.name}: nothing was called; the last that was said:\n{said}"
                    )
        except Skip as skip:
            self._context.skipped[str(skip)] += 1
        except PrerequisiteError as fault:
            self._context.skipped["suite_lacks_program"] += 1
            self._bench.say(f"recorder: {self._runner.name}: {fault}")
        self._count_in_process()
        self._bench.say(f"recorder: {self._runner.name}: {sum(self._calls.values())} calls, {len(found)} inputs")
        return found

    def _piece(self, session: Session, start: Start) -> Iterator[MinedCase]:
        calls, broken = session.record(start)
        self._context.skipped["odd_log"] += broken
        suite = Suite(
            roots=ROOTS,
            env={k.encode(): v.encode() for k, v in session.env.items()},
            names=self._names - {d.encode() for d in session.drops},
            limits=self._context.limits,
        )
        of_test: Counter[str] = Counter()
        for call in calls:
            path, name = self._runner.place(call, start, self._tests)
            self._calls[path] += 1
            of_test[name] += 1
            if name and of_test[name] > self._bench.rule["calls_of_test"]:
                self._context.skipped["many_calls"] += 1
                continue
            try:
                yield self._case(call, path, name, suite)
            except Skip as skip:
                self._context.skipped[str(skip)] += 1

    def _case(self, call: Call, path: bytes, name: str, suite: Suite) -> MinedCase:
        case, recorded = case_of(call, suite)
        entry = self._tree.get(path)
        if entry is None:
            raise Skip("no_test_file")
        line = line_of(entry, name.partition("[")[0].encode())
        provenance: Provenance = self._context.provenance(Recorder.name, entry, line)
        test = name or case.id  # where no test is named, nothing says that two calls of a script belong together
        return MinedCase(case=case, provenance=provenance, group=f"{show(path)}:{test}", recorded=recorded)

    def _count_in_process(self) -> None:
        """Lines that call the tool's code, in test files that made no call of the tool."""
        for path, test in self._tests.items():
            if not self._calls[path]:
                lines = test.content.split(b"\n")
                self._context.skipped["in_process"] += sum(self._runner.in_process.search(x) is not None for x in lines)


def _names(oracle: Path) -> frozenset[bytes]:
    """Words in the oracle's files that could name a variable of the environment."""
    found: set[bytes] = set()
    for file in sorted(oracle.rglob("*")):
        if file.is_file() and not file.is_symlink():
            found.update(_VARIABLE.findall(file.read_bytes()))
    return frozenset(found)
