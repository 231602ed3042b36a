"""`python interrupted.py MODULE COMMAND WORD…`: a console script, interrupted when it begins to import MODULE."""

from __future__ import annotations

import os
import runpy
import signal
import sys


class Interrupting:
    """Finds no module, and interrupts this process when it is asked for one."""

    def __init__(self, module: str) -> None:
        self._module = module

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self._module:
            os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    _, module, command, *words = sys.argv
    sys.meta_path.insert(0, Interrupting(module))  # type: ignore[arg-type]
    sys.argv = [os.path.join(os.path.dirname(sys.executable), command), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")
