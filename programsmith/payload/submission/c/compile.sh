#!/bin/sh
# Makes the executable of all C files that lie beside this script.
set -eu
cd /app/submission
cc -O2 -o executable ./*.c
