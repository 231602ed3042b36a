"""The closed classes of what ends a grading run without a grade, which of them an exception is, and the exit codes.

A class tells a person what to mend; no reward depends on it. `hostile` is no such class: it is a grade, 0.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from enum import IntEnum, StrEnum

HOSTILE = "hostile"  # the class of a submission that ended its verifier twice where the table control passed
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class Fault(StrEnum):
    """Why there is no grade. The first four are measured from outside the verifier too."""

    ENGINE_KILLED = "engine_killed"  # the verifier, or the engine of its container, was killed or is gone
    TIMEOUT_OURS = "timeout_ours"  # longer than the bundle's own longest time
    OOM_OURS = "oom_ours"  # the verifier's memory, not a case's
    DISK_FULL = "disk_full"
    NO_ISOLATION = "no_isolation"
    LAUNCHER_FAULT = "launcher_fault"  # the build or a case could not be run
    HOST_FAULT = "host_fault"  # another error of the operating system
    REFUSED = "refused"  # not a verifier's place, or not a whole bundle
    CRASHED = "crashed"  # an exit code that the verifier does not have
    NO_REPORT = "no_report"  # none, or no well-formed one


class End(IntEnum):
    """Exit codes of the verifier. The last two need no room for a report."""

    GRADED = 0
    INFRA = 2
    REFUSED = 3
    DISK_FULL = 4
    NO_MEMORY = 5


_ENDS: Mapping[str, End] = {Fault.DISK_FULL: End.DISK_FULL, Fault.OOM_OURS: End.NO_MEMORY}


def exit_of(fault: str | None) -> End:
    """The exit code of a run that is infra, by its class."""
    return _ENDS.get(fault or "", End.INFRA)


def fault_of(error: BaseException) -> Fault | None:
    """The class of an exception by what caused it, None where nothing says more than its own type."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, MemoryError) or getattr(at, "errno", None) == errno.ENOMEM:
            return Fault.OOM_OURS
        if getattr(at, "errno", None) in _FULL:
            return Fault.DISK_FULL
        at = at.__cause__ or at.__context__
    return None
