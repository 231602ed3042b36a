"""From what was reported and measured to a result: the one place where a launch is judged.

In: the init's report, what flowed, what the host measured, the limits. Out: a `Result`. Pure.
"""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import dataclass

from programsmith.payload.verifier.launcher import Request, Result
from programsmith.payload.verifier.pump import Flow
from programsmith.payload.verifier.wire import Over, Report

_HOST_ERRORS = {errno.EMFILE, errno.ENFILE, errno.EAGAIN}  # not EIO: a file that names a loader decides that
_OVER = tuple((bit, bit.name.lower()) for bit in Over if bit.name)


@dataclass(frozen=True, slots=True)
class Used:
    """What the host measured of a launch: wall and CPU seconds, limits that the control group saw hit."""

    wall: float
    cpu: float
    hits: frozenset[str]


def settle(report: Report, flow: Flow, request: Request, used: Used) -> Result:
    """The result of a launch; a fault where it proves nothing."""
    fault = _fault(report, flow, used)
    if fault:
        return Result(fault=fault)
    ended = report.end
    cpu = max(ended[1] / 1e6 if ended else 0.0, used.cpu)
    wait_status = ended[0] if ended else int(signal.SIGKILL)
    died = os.WTERMSIG(wait_status) if os.WIFSIGNALED(wait_status) else None
    started = report.exec_errno is None
    whole = report.complete and report.unread is None and request.collect and started
    return Result(
        started=started,
        start_error=report.exec_errno,
        exit_code=os.WEXITSTATUS(wait_status) if started and died is None else None,
        signal=died if started else None,
        stdout=bytes(flow.stdout),
        stderr=bytes(flow.stderr),
        files=tuple(sorted(report.entries)) if whole else None,
        cpu_seconds=cpu,
        wall_seconds=used.wall,
        limits_hit=_hits(report, flow, used) | ({"cpu"} if cpu > request.limits.cpu_seconds else set()),
    )


def _hits(report: Report, flow: Flow, used: Used) -> frozenset[str]:
    hits = set(used.hits)
    if flow.over:
        hits.add("work" if flow.over == "status" else flow.over)  # names and links that it left are work, too
    if report.end:
        wait_status, _, over = report.end
        hits |= {name for bit, name in _OVER if bit & over}
        if os.WIFSIGNALED(wait_status) and os.WTERMSIG(wait_status) == signal.SIGXFSZ:
            hits.add("work")
    return frozenset(hits)


def _fault(report: Report, flow: Flow, used: Used) -> str | None:
    """Why this launch proves nothing; None where it does. A limit of ours counts only after the program started."""
    if report.fault:
        return f"init: {report.fault}"
    if flow.over == "status" and not report.started:
        return "the init reported more than the work directory can hold"
    if report.complete and (report.exec_errno is not None or (report.started and report.end)):
        return f"exec failed with errno {report.exec_errno}" if report.exec_errno in _HOST_ERRORS else None
    if report.started and (flow.over or "memory" in used.hits):
        return None
    said = bytes(flow.stderr[-400:]).decode("utf-8", "backslashreplace").strip()
    return f"no complete report ({flow.over or 'ended early'}): {said or 'nothing on stderr'}"
