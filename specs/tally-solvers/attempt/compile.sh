#!/bin/sh
# Makes an executable that starts main.py, which is compiled once for all cases.
set -eu
cd /app/submission
python3 -m compileall -q --invalidation-mode unchecked-hash main.py
cat >executable <<END
#!$(command -v python3) -IS
import sys
sys.path.insert(0, "/app/submission")
import main
sys.exit(main.main())
END
chmod 755 executable
