"""Answers come from all processes; one that dies has found nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import pytest

from programsmith.compiler.shares import SHARE, shared

MANY = [str(number) for number in range(4 * SHARE)]


def pids(share: Sequence[str]) -> list[bytes]:
    return [f"{name} {os.getpid()}".encode() for name in share]


def test_every_answer_is_there_once() -> None:
    answers = [answer.split() for answer in shared(pids, MANY)]
    assert sorted(int(name) for name, _ in answers) == list(range(len(MANY)))
    if len(os.sched_getaffinity(0)) > 1:
        assert len({pid for _, pid in answers}) > 1


@pytest.mark.parametrize("count", [0, 1, SHARE])
def test_few_are_answered_here(count: int) -> None:
    assert {answer.split()[1] for answer in shared(pids, MANY[:count])} <= {str(os.getpid()).encode()}


@pytest.mark.parametrize("end", ["killed", "raised"])
def test_a_process_that_dies_has_found_nothing(end: str, capfd: pytest.CaptureFixture[str]) -> None:
    here = os.getpid()

    def find(share: Sequence[str]) -> list[bytes]:
        if os.getpid() != here and end == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if os.getpid() != here:
            raise OSError("no luck")
        return pids(share)

    answers = shared(find, MANY)
    assert {answer.split()[1] for answer in answers} == {str(here).encode()}
    assert len(answers) >= len(MANY) // len(os.sched_getaffinity(0))
    assert capfd.readouterr().err == ""
