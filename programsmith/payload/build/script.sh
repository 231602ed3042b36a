#!/bin/sh
# Leave the program's starter at ./executable. Nothing is compiled: the interpreter reads the source where it lies.
set -e
# @layout@
cp starter executable
chmod 755 executable
