"""From a report to a result: every row of the table that decides whether a launch proves anything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from programsmith.payload.verifier.launcher import Request
from programsmith.payload.verifier.model import Limits
from programsmith.payload.verifier.pump import Flow
from programsmith.payload.verifier.settle import Used, settle
from programsmith.payload.verifier.wire import Over, Report

LIMITS = Limits(cpu_seconds=1, wall_seconds=2, memory_bytes=1, pids=1, output_bytes=1, work_bytes=1 << 20, work_files=1)
REQUEST = Request(program="/p", argv=(b"p",), env=(), limits=LIMITS)
USED = Used(0.5, 0.1, frozenset())
DONE = Report(started=True, end=(0, 1000, Over(0)), complete=True)
NO_LIMITS: frozenset[str] = frozenset()

ROWS = [  # report, over, used: fault, started, exit, signal, limits
    (DONE, None, USED, (False, True, 0, None, NO_LIMITS)),
    (replace(DONE, end=(139 << 8, 0, Over(0))), None, USED, (False, True, 139, None, NO_LIMITS)),
    (replace(DONE, end=(11, 0, Over(0))), None, USED, (False, True, None, 11, NO_LIMITS)),
    (replace(DONE, end=(25, 0, Over(0))), None, USED, (False, True, None, 25, {"work"})),
    (replace(DONE, end=(9, 0, Over.CPU)), None, USED, (False, True, None, 9, {"cpu"})),
    (replace(DONE, end=(0, 0, Over.MEMORY | Over.WORK)), None, USED, (False, True, 0, None, {"memory", "work"})),
    (replace(DONE, end=(0, 1_500_000, Over(0))), None, USED, (False, True, 0, None, {"cpu"})),
    (DONE, None, Used(0.5, 3.0, frozenset({"pids"})), (False, True, 0, None, {"cpu", "pids"})),
    (DONE, "output", USED, (False, True, 0, None, {"output"})),
    (Report(exec_errno=2, complete=True), None, USED, (False, False, None, None, NO_LIMITS)),
    (Report(exec_errno=8, complete=True), None, USED, (False, False, None, None, NO_LIMITS)),
    (Report(exec_errno=11, complete=True), None, USED, (True, False, None, None, NO_LIMITS)),
    (Report(exec_errno=24, complete=True), None, USED, (True, False, None, None, NO_LIMITS)),
    (Report(started=True), "wall", USED, (False, True, None, 9, {"wall"})),
    (Report(started=True), "cpu", USED, (False, True, None, 9, {"cpu"})),
    (Report(started=True), None, Used(0, 0, frozenset({"memory"})), (False, True, None, 9, {"memory"})),
    (Report(started=True), None, USED, (True, False, None, None, NO_LIMITS)),
    (Report(), "wall", USED, (True, False, None, None, NO_LIMITS)),
    (Report(), "output", USED, (True, False, None, None, NO_LIMITS)),
    (Report(), None, Used(0, 0, frozenset({"memory"})), (True, False, None, None, NO_LIMITS)),
    (Report(), None, USED, (True, False, None, None, NO_LIMITS)),
    (Report(complete=True), None, USED, (True, False, None, None, NO_LIMITS)),
    (replace(DONE, complete=False), None, USED, (True, False, None, None, NO_LIMITS)),
    (replace(DONE, fault="mount"), None, USED, (True, False, None, None, NO_LIMITS)),
    (Report(), "status", USED, (True, False, None, None, NO_LIMITS)),
    (DONE, "status", USED, (False, True, 0, None, {"work"})),
    (replace(DONE, complete=False), "status", USED, (False, True, 0, None, {"work"})),
]


@pytest.mark.parametrize(("report", "over", "used", "wanted"), ROWS)
def test_table(report: Report, over: str | None, used: Used, wanted: tuple[object, ...]) -> None:
    got = settle(report, Flow(over=over), REQUEST, used)
    assert (got.fault is not None, got.started, got.exit_code, got.signal, got.limits_hit) == wanted
    assert got.start_error == (report.exec_errno if got.fault is None else None)


def test_files_are_none_where_they_could_not_be_read_whole() -> None:
    assert settle(DONE, Flow(), REQUEST, USED).files == ()
    assert settle(replace(DONE, unread="too deep"), Flow(), REQUEST, USED).files is None
    assert settle(DONE, Flow(), replace(REQUEST, collect=False), USED).files is None


def test_a_fault_shows_what_was_said() -> None:
    result = settle(Report(), Flow(stderr=bytearray(b"bwrap: \xff no")), REQUEST, USED)
    assert "bwrap: \\xff no" in str(result.fault)
