"""Who is to blame where a grading ends without a grade: a control is graded in the same place, and that decides.

In: what grades the artifact, what grades the table control. Out: the artifact's grade, or none where the artifact ended
its verifier twice and the control did not: that is the artifact's doing. All else is infra, with a class of a closed
list. The rule knows neither the backend nor the verifier.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from programsmith.errors import InfraError, InputError
from programsmith.payload.verifier.faults import End, Fault
from programsmith.payload.verifier.report import DETAILS

T = TypeVar("T")
ALL = 1.0  # what the table control gets where nothing is wrong


class AbnormalError(InfraError):
    """A grading that ended without a grade. `fault` is its class, `why` what was seen; the message has both."""

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(f"{fault}: {why}")
        self.fault, self.why = fault, why


def settled(attempt: Callable[[], T], control: Callable[[], float]) -> tuple[T | None, tuple[AbnormalError, ...]]:
    """The artifact's grade, None where it is to blame for having none; and the abnormal ends on the way.

    Raises AbnormalError, of the class of the first end, where the control cannot be graded either or is not right.
    """
    try:
        return attempt(), ()
    except AbnormalError as fault:
        first = fault
    try:
        reward = control()
    except (InfraError, InputError) as fault:
        raise AbnormalError(first.fault, f"{first.why}; nor could the table control be graded: {fault}") from first
    if reward != ALL:
        raise AbnormalError(first.fault, f"{first.why}; the table control scores {reward:g} here, wanted 1") from first
    try:
        return attempt(), (first,)
    except AbnormalError as second:
        return None, (first, second)


_CODES: Mapping[int, Fault] = {
    End.REFUSED: Fault.REFUSED,
    End.DISK_FULL: Fault.DISK_FULL,
    End.NO_MEMORY: Fault.OOM_OURS,
}


def ended_by(code: int, out: Path, *, lacked_memory: bool) -> Fault:
    """The class of a verifier's end by its exit code, negative for a signal, and by the report that it left in `out`.

    `lacked_memory` says that the kernel ended a process for want of memory meanwhile.
    """
    if code < 0:
        return Fault.OOM_OURS if lacked_memory and code == -signal.SIGKILL else Fault.ENGINE_KILLED
    if code != End.INFRA:
        return _CODES.get(code, Fault.CRASHED)
    try:
        return Fault(json.loads((out / DETAILS).read_bytes())["class"])
    except (OSError, ValueError, KeyError, TypeError):
        return Fault.HOST_FAULT


def overran(seconds: float) -> str:
    """A verifier that was ended for its time, in words."""
    return f"the verifier ran longer than its own limit of {seconds:.0f} s; grade again"


def no_grade(code: int, said: str) -> str:
    """A verifier's end in words."""
    how = f"exit code {code}" if code >= 0 else f"ended by signal {-code}"
    return f"the verifier gave no grade ({how}): {said}; mend the cause and grade again"
