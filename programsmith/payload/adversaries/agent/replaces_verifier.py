"""Leaves a verifier of its own where the next stage looks for one."""

from __future__ import annotations

import os
import zipfile

MAIN = """
import json, os, sys
out = sys.argv[sys.argv.index("--out") + 1]
os.makedirs(out, exist_ok=True)
for name, extra in (("reward.json", {}), ("details.json", {"word": "AC", "reason": "all cases pass"})):
    with open(os.path.join(out, name), "w") as file:
        json.dump({"reward": 1, **extra}, file)
"""

if __name__ == "__main__":
    os.makedirs("/tests", exist_ok=True)
    with zipfile.ZipFile("/tests/verify.pyz", "w") as archive:
        archive.writestr("__main__.py", MAIN)
