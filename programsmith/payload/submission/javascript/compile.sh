#!/bin/sh
# Makes the executable of main.js: its first line names the interpreter of this place, which compiles nothing as it runs.
set -eu
cd /app/submission
{ printf '#!/usr/bin/env -S %s --jitless --no-expose-wasm\n' "$(command -v node)"; cat main.js; } >executable
chmod 755 executable
