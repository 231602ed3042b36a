"""Uses so many milliseconds of processor time and says so. Argument: the milliseconds.

By the clock of its one thread: spin.c says why.
"""

import sys
import time

wanted = int(sys.argv[1])
while time.thread_time() * 1000 < wanted:
    pass
print(wanted)
