"""How a command ends before it has begun: by an interrupt, on a platform that cannot run it, for want of a reader.

An interrupt before the beginning is one line and its exit code, even in the midst of an import. Until then there is
nothing to end in order, and a KeyboardInterrupt that is raised inside an import shows a traceback, or is lost where no
frame can take it. Afterwards Python's own handler raises it, as whatever ends in order wants, and one that is lost
comes again.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # every command imports this first, and nothing with it
    from types import FrameType
    from typing import NoReturn

LINE = b"interrupted: run the same command again to go on\n"
INTERRUPTED, USAGE = 130, 3  # exit codes
SOON = 0.02  # seconds
ELSEWHERE = "this machine runs {}; programs are isolated with Linux namespaces: use Linux, a virtual machine will do"


def until_begun() -> None:
    """From now on an interrupt ends the process at once. One that is ignored, or heard by somebody else, stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def begun() -> None:
    """From now on an interrupt is raised, for whoever catches it. Called again it changes nothing."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = _again_soon


def elsewhere() -> int | None:
    """The exit code of every command where nothing can be isolated, told in a line; None on Linux."""
    here: str = sys.platform
    if here.startswith("linux"):
        return None
    sys.stderr.write(f"error: {ELSEWHERE.format(here)}\n")
    return USAGE


def until_read() -> None:
    """From now on the process ends in silence when nobody reads what it prints any more, as `list | head -1` wants."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _again_soon(lost: sys.UnraisableHookArgs) -> None:
    """What was raised where no frame can take it, as in a callback of an import: an interrupt comes once more."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, SOON)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    os.write(2, LINE)
    os._exit(INTERRUPTED)
