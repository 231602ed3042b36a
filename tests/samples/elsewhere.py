"""`python elsewhere.py PLATFORM COMMAND WORD…`: a console script as if on another platform."""

from __future__ import annotations

import os
import runpy
import sys

if __name__ == "__main__":
    _, sys.platform, command, *words = sys.argv
    sys.argv = [os.path.join(os.path.dirname(sys.executable), command), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")
