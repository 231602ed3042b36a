#!/usr/bin/env bash
# The tests that start real coding agents, with and without an engine; that is one of their own, which goes with this run.
# The agents come from their registries; the models are played by a server of the tests.
# In: CLONE, a checkout in which README's second line made .venv; FOLDER, that does not exist yet and is removed again.
# Out: exit 0 when all passed and none was left out; agents that were not here before are removed again.
# `agents.sh reason` says on stdout why this machine cannot run them at all, and nothing where it can.
set -euo pipefail
. "$(dirname "$0")/engine.sh"

needs() { # what the registries' clients want
  command -v npm >/dev/null || command -v apt-get >/dev/null || echo "no npm here, and no apt-get that would install it"
}

if [ "$1" = reason ]; then
  why=$(reason)
  echo "${why:-$(needs)}"
  exit 0
fi

clone=$1 folder=$2
if ! command -v npm >/dev/null; then
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends npm >/dev/null
fi
open_engine
bases
agents=(claude-code codex gemini-cli mini-swe-agent)
installed() { # names with their versions
  programsmith agents list | cut -d' ' -f1 | sort -u
}
before=$(installed)
leave() { # only what was here
  for agent in $(comm -13 <(echo "$before") <(installed)); do
    programsmith agents remove "$agent" || true
  done
  clear_all
}
trap leave EXIT
programsmith agents install "${agents[@]}"
marked agents 'is not installed|no Docker engine|engine has no'
