#!/bin/sh
# Unpacks the original that is carried, and makes the program that hands over to it.
set -eu
cd /app/submission
mkdir oracle
tar -xmof oracle.tar -C oracle
g++ -O2 -fpermissive -o executable main.cpp
