"""Says the time, what a file that it makes says, how long a moment takes, and what a program that it starts says."""

import os
import subprocess
import sys
import time

ASK = "import time; print(time.time())"

begun = time.time()
time.sleep(0.01)
took = time.time() - begun
with open("made", "wb"):
    made = os.stat("made").st_mtime
later = subprocess.run([sys.executable, "-IS", "-c", ASK], stdout=subprocess.PIPE, check=True).stdout  # noqa: S603
print(begun, took, made, float(later))
