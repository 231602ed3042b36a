#!/bin/sh
# Makes the executable of all C++ files that lie beside this script.
set -eu
cd /app/submission
g++ -O2 -fpermissive -o executable ./*.cpp
