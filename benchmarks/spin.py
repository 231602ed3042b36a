"""Uses so many milliseconds of processor time and says so. Argument: the milliseconds."""

import sys
import time

wanted = int(sys.argv[1])
while time.process_time() * 1000 < wanted:
    pass
print(wanted)
