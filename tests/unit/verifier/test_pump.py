"""Pipes of a launch that end in any order."""

from __future__ import annotations

import os
import time

from programsmith.payload.verifier.pump import Pump
from programsmith.payload.verifier.wire import is_whole


def pump_over(stdout: int, stderr: int, status: int) -> Pump:
    return Pump(
        stdin=os.open("/dev/null", os.O_WRONLY),
        stdout=stdout,
        stderr=stderr,
        status=status,
        data=b"",
        output_cap=1 << 20,
        status_cap=1 << 20,
        deadline=time.monotonic() + 20,
        check=lambda: None,
        begun=None,
        period=None,
        is_whole=is_whole,
    )


def test_a_stream_that_closes_while_the_report_is_read_is_no_surprise(monkeypatch):
    """The kernel closes a dead process's pipes in an order of its own, the report's before the streams' too."""
    (out, to_out), (err, to_err), (status, to_status) = (os.pipe() for _ in range(3))
    os.write(to_status, b"report")
    os.close(to_status)
    late = [to_out, to_err]
    drain = Pump._drain

    def closing(self, fd, sink):
        while late:
            os.close(late.pop())
        return drain(self, fd, sink)

    monkeypatch.setattr(Pump, "_drain", closing)
    flow = pump_over(out, err, status).run()
    os.close(status)
    assert (bytes(flow.status), bytes(flow.stdout), flow.over, late) == (b"report", b"", None, [])


def test_what_was_said_before_the_report_ended_is_kept():
    (out, to_out), (err, to_err), (status, to_status) = (os.pipe() for _ in range(3))
    for fd, said in ((to_out, b"out"), (to_err, b"err"), (to_status, b"report")):
        os.write(fd, said)
        os.close(fd)
    flow = pump_over(out, err, status).run()
    os.close(status)
    assert (bytes(flow.stdout), bytes(flow.stderr), bytes(flow.status)) == (b"out", b"err", b"report")


def test_a_whole_report_is_the_end_though_its_pipe_is_open():
    (out, to_out), (err, to_err), (status, to_status) = (os.pipe() for _ in range(3))
    for fd in (to_out, to_err):
        os.close(fd)
    whole = b"S" + bytes(8) + b"Z" + bytes(8)
    os.write(to_status, whole)
    flow = pump_over(out, err, status).run()
    os.close(status)
    os.close(to_status)
    assert (bytes(flow.status), flow.over) == (whole, None)
