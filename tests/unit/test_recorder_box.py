"""What a suite may take is CPU time: how busy the host is decides neither what is recorded nor whether it is."""

from __future__ import annotations

from collections import Counter

import pytest

from programsmith.errors import InfraError
from programsmith.miners.base import Skip
from programsmith.miners.recording.box import Box
from programsmith.payload.verifier.launcher import Result
from programsmith.payload.verifier.model import Limits

LIMITS = Limits(cpu_seconds=900, wall_seconds=900, memory_bytes=1, pids=1, output_bytes=1, work_bytes=1, work_files=1)
RULE = {"cpu_seconds": 100, "piece_cpu_seconds": 40, "waits": 2}


def test_a_piece_gets_its_share_until_the_box_is_empty():
    box = Box(RULE, LIMITS)
    given = []
    for _ in range(3):
        given.append(box.limits_of(None).cpu_seconds)
        box.take(Result(cpu_seconds=given[-1], wall_seconds=800, limits_hit=frozenset({"cpu"})))
    assert given == [40, 40, 20]
    assert +box.counted == {"piece_cpu": 3}
    with pytest.raises(Skip, match="cpu_box"):
        box.limits_of(None)


def test_what_builds_tests_may_use_all_that_is_left_and_wall_time_is_never_less():
    box = Box(RULE, LIMITS)
    assert (box.limits_of(box.left).cpu_seconds, box.limits_of(None).wall_seconds) == (100, 900)


def test_a_piece_at_work_that_meets_the_backstop_is_infra():
    box = Box(RULE, LIMITS, Counter())
    with pytest.raises(InfraError, match="too busy; run again"):
        box.take(Result(cpu_seconds=30, wall_seconds=900, limits_hit=frozenset({"wall"})))


def test_pieces_that_wait_are_counted_and_end_the_suites():
    box = Box(RULE, LIMITS, Counter())
    for _ in range(2):
        box.limits_of(None)
        box.take(Result(cpu_seconds=0.1, wall_seconds=900, limits_hit=frozenset({"wall"})))
    with pytest.raises(Skip, match="waits"):
        box.limits_of(None)
    assert box.counted["waits"] == 2
