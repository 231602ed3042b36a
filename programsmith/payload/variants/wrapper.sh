#!/bin/sh
# Starts a program the way an honest submission may: from a script, under a path of its own.
IFS= read -r program < /opt/variant/program
exec "$program" "$@"
