#!/bin/sh
# Grades /app/submission. The reward is the verifier's file, never this script's exit code. environment.json says how
# this place isolates a launch; where it is absent, nothing is scored and no reward is written.
set -u
exec python3 -I /tests/verify.pyz --tests /tests --submission /app/submission --out /logs/verifier \
  --launcher /tests/environment.json
