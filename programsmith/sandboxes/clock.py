"""Whether launches on this host can be told another time of day: tried once, not concluded from what the host has.

The tracer is part of the compiled init (payload/init/clock.h). The Python init has none, and a host may refuse tracing.
"""

from __future__ import annotations

import contextlib
import time
from functools import cache
from importlib import resources

from programsmith.payload.verifier.launcher import Launcher, Request, Surroundings
from programsmith.payload.verifier.model import FileEntry, Limits
from programsmith.sandboxes import open_launcher
from programsmith.sandboxes.view import python_view

AHEAD = 400 * 86400
SLACK = 60.0  # seconds that the try may take
_LIMITS = Limits(
    cpu_seconds=10,
    wall_seconds=30,
    memory_bytes=256 << 20,
    pids=16,
    output_bytes=1 << 16,
    work_bytes=1 << 20,
    work_files=64,
)


@cache
def clock_fault() -> str | None:
    """Why no launch on this host can be told another time; None where it can. Raises PrerequisiteError."""
    with contextlib.closing(open_launcher(python_view())) as launcher:
        return fault_of(launcher)


def fault_of(launcher: Launcher) -> str | None:
    """The same of one launcher whose view holds Python."""
    witness = resources.files("programsmith.payload") / "variants" / "clock_witness.py"
    result = launcher.run(
        Request(
            program="/usr/bin/python3",
            argv=(b"python3", b"-IS", b"witness.py"),
            env=((b"PATH", b"/usr/bin"),),
            limits=_LIMITS,
            files=(FileEntry(b"witness.py", content=witness.read_bytes()),),
            surroundings=Surroundings(clock=AHEAD),
        )
    )
    if result.fault or result.exit_code != 0:
        return result.fault or result.stderr[-200:].decode("ascii", "backslashreplace")
    begun, took, made, later = map(float, result.stdout.split())
    wanted = time.time() + AHEAD
    if not (0 <= took < SLACK and all(abs(told - wanted) < SLACK for told in (begun, made, later))):
        return f"a program is told {begun:.0f}, {made:.0f} and {later:.0f} where {wanted:.0f} is wanted"
    return None
