#!/bin/sh
# Makes the executable of main.rs and the modules beside it.
set -eu
cd /app/submission
rustc --edition=2021 -O -o executable main.rs
