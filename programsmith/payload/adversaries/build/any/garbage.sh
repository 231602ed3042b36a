#!/bin/sh
# Leaves bytes that are no program.
cd /app/submission
head -c 4096 /dev/urandom >executable
