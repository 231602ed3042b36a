#!/bin/sh
set -eu
cat main.py >executable
chmod 755 executable
