#!/usr/bin/env bash
# The tests that need a Docker engine, on an engine of their own that goes with this run.
# In: CLONE, a checkout in which README's second line made .venv; FOLDER, that does not exist yet and is removed again.
# Out: exit 0 when all passed and none was left out.
# `docker.sh reason` says on stdout why this machine cannot run them at all, and nothing where it can.
set -euo pipefail
. "$(dirname "$0")/engine.sh"
tools+=(docker-registry)
packages+=(docker-registry)

if [ "$1" = reason ]; then
  reason
  exit 0
fi

clone=$1 folder=$2
open_engine
bases
python -m programsmith.toolchains.bases --verifiers cpp go java javascript rust
# half of the time is waiting for the engine; tests of one file share what they have made
marked 'docker and not agents' 'no Docker engine|engine has no' -n 2 --dist loadfile
