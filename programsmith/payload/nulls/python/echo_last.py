"""Prints its last argument. Solves nothing."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.stdout.buffer.write(os.fsencode(sys.argv[-1] if sys.argv[1:] else "") + b"\n")
