#!/usr/bin/python3
"""Start a script of the tree that this file lies in, under the tool's name, as the main module."""

import os
import sys

root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
__file__ = root + "/lib/script_path"
sys.path[:1] = [os.path.dirname(__file__), root + "/vendor"]
sys.argv[0] = "tool_name"
with open(__file__, "rb") as text:
    code = compile(text.read(), __file__, "exec")
exec(code)  # noqa: S102 - the script becomes this process's main module
