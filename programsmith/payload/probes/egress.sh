#!/bin/sh
# Builds the probe, then lets it try every way out in the build stage; what it says goes to the build's log.
set -eu
sh build.sh
./executable
