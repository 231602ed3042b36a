#!/bin/sh
# Unpacks a program that was compiled elsewhere, instead of building one.
cd /app/submission
gzip -dc answer.gz >executable
chmod 755 executable
