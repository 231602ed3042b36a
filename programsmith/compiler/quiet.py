"""An interrupt before a command has begun: one line and its exit code, even in the midst of an import.

Until then there is nothing to end in order, and a KeyboardInterrupt that is raised inside an import shows a traceback,
or is lost where no frame can take it. Afterwards Python's own handler raises it, as whatever ends in order wants.
"""

from __future__ import annotations

import os
import signal

from programsmith.errors import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:  # a build with nothing to do imports this, and little else
    from types import FrameType
    from typing import NoReturn

LINE = b"interrupted: run the same command again to go on\n"


def until_begun() -> None:
    """From now on an interrupt ends the process at once. One that is ignored, or heard by somebody else, stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def begun() -> None:
    """From now on an interrupt is raised, for whoever catches it. Called again it changes nothing."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    os.write(2, LINE)
    os._exit(Exit.INTERRUPTED)
