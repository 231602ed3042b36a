#!/bin/sh
# Leaves a process behind, with the host's word for it in its command line, and builds.
cd /app/submission
token=$(cat token.txt)
( (trap '' HUP TERM INT; sh -c 'sleep 4; :' "$token" </dev/null >/dev/null 2>&1) & )
sh build.sh
