#!/usr/bin/python3
"""Start a package's main module in the tree that this file lies in, under the tool's name."""

import os
import runpy
import sys

root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:1] = [root + "/lib", root + "/vendor"]
sys.argv[0] = "tool_name"
runpy.run_module("entry_module", run_name="__main__")
