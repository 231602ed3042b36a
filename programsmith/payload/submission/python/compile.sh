#!/bin/sh
# Makes the executable of main.py: its first line names the interpreter of this place.
set -eu
cd /app/submission
{ printf '#!%s -IS\n' "$(command -v python3)"; cat main.py; } >executable
chmod 755 executable
