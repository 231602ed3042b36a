#!/bin/sh
# Makes an executable that starts the package beside it, which is compiled once for all cases.
set -eu
cd /app/submission
python3 -m compileall -q --invalidation-mode unchecked-hash tally
cat >executable <<END
#!$(command -v python3) -IS
import sys
sys.path.insert(0, "/app/submission")
from tally.cli import main
sys.exit(main())
END
chmod 755 executable
