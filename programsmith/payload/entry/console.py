#!/usr/bin/python3
"""Start a console script of the tree that this file lies in, under the tool's name."""

import os
import sys

root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:1] = [root + "/lib", root + "/vendor"]
sys.argv[0] = "tool_name"

from entry_module import entry_function  # type: ignore[import-not-found]  # noqa: E402

sys.exit(entry_function())
