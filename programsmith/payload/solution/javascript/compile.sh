#!/bin/sh
# Unpacks the original that is carried, and makes the program that hands over to it.
set -eu
cd /app/submission
mkdir oracle
tar -xmof oracle.tar -C oracle
{ printf '#!/usr/bin/env -S %s --jitless --no-expose-wasm\n' "$(command -v node)"; cat main.js; } >executable
chmod 755 executable
