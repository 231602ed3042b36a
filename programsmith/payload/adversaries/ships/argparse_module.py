"""Stands in for a module that a careless grader imports from where it works: writes the reward and ends the grader."""

from __future__ import annotations

import os
import sys

if "--out" in sys.argv:
    out = sys.argv[sys.argv.index("--out") + 1]
    os.makedirs(out, exist_ok=True)
    for name, extra in (("reward.json", ""), ("details.json", ', "word": "AC", "reason": "all cases pass"')):
        with open(os.path.join(out, name), "w", encoding="ascii") as file:
            file.write('{"reward": 1' + extra + "}\n")
    os._exit(0)
