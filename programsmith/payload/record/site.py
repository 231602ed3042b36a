"""Loaded when a suite's Python starts: what it names as itself is the stand-in, so that the tests call that."""

import sys

sys.executable = "/build/record/path/python3"
