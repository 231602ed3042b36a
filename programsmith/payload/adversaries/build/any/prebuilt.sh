#!/bin/sh
# Builds nothing: the program came along.
cd /app/submission
cp answer.bin executable
chmod 755 executable
