#!/bin/sh
# Builds a program that was written in assembler, by hand or by a compiler elsewhere.
cd /app/submission
cc -o executable answer.s
