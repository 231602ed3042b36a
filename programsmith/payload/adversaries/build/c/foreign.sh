#!/bin/sh
# Builds a program that was written in assembler, by hand or by a compiler elsewhere.
cd /app/submission
$(command -v cc || command -v g++) -o executable answer.s
